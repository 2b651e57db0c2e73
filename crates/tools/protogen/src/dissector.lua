-- Walks the tables above. What Wireshark hands over starts after the EtherType, or after IPv6's header: offsets in a
-- frame count from there.

-- Fields shown as hexadecimal numbers.
local HEX = { addr = true, out_addr = true, nonce = true, boot = true }

-- The header's fields that all families share: version_flags, kind and length.
local COMMON = 3

-- What a field of the header shows in the line of the list.
local function value(tvb, f)
  local range = tvb(f.at, f.size)
  if HEX[f.name] then
    return "0x" .. range:uint64():tohex():gsub("^0+(.)", "%1")
  elseif f.type == "u64" then
    return tostring(range:uint64())
  elseif f.type == "mac" or f.type == "bytes" then
    return tostring(range)
  end
  return ("%u"):format(range:uint())
end

-- What Wireshark has found in front of a frame that an IPv6 packet carries.
local OUTER = {
  src = Field.new("ipv6.src"), dst = Field.new("ipv6.dst"), hops = Field.new("ipv6.hlim"),
  eth_src = Field.new("eth.src"), eth_dst = Field.new("eth.dst"),
}

-- The bytes of the innermost such field as hexadecimal digits; nil if there is none.
local function outer(name)
  local found = { OUTER[name]() }
  return #found > 0 and found[#found].range:bytes():tohex(true) or nil
end

-- The modified EUI-64 of an Ethernet address; both are hexadecimal digits.
local function eui64(mac)
  local first = tonumber(mac:sub(1, 2), 16)
  first = first + (math.floor(first / 2) % 2 == 0 and 2 or -2)
  return ("%02x%sfffe%s"):format(first, mac:sub(3, 6), mac:sub(7, 12))
end

-- What a packet has wrong that a receiver looks at; nil if nothing.
local function packet_fault(ipv6)
  local hops = tonumber(outer("hops"), 16)
  if hops ~= ipv6.hop_limit then
    return ("hop limit %d, and nodes send %d"):format(hops, ipv6.hop_limit)
  end
  for _, name in ipairs({ "src", "dst" }) do
    local address, mac = outer(name), outer("eth_" .. name)
    if address:sub(1, 16) ~= ipv6.subnet then
      return name .. " is not of the nodes' subnet"
    elseif mac and address:sub(17) ~= eui64(mac) then
      return name .. " is not the address of the Ethernet " .. name
    end
  end
  return nil
end

-- Makes the dissector of one family.
local function register(family)
  local header, trailer = family.structs[family.header], family.structs[family.trailer]
  local header_at = {}
  for _, f in ipairs(header.fields) do
    header_at[f.name] = f.at
  end
  local protocol = Proto(family.filter, family.title)
  local fields = {}

  -- Adds a field; `key` is its filter name without the family's prefix.
  local function field(key, make, ...)
    fields[key] = make(family.filter .. "." .. key, ...)
    return fields[key]
  end

  local function declare(prefix, f)
    local key, title = prefix .. f.name, f.name:gsub("_", " ")
    local radix = HEX[f.name] and base.HEX or base.DEC
    local values = f.enum and family.enums[f.enum]
    if f.type == "u8" then
      field(key, ProtoField.uint8, title, radix, values, nil, f.doc)
    elseif f.type == "u16" then
      field(key, ProtoField.uint16, title, radix, values, nil, f.doc)
    elseif f.type == "u32" then
      field(key, ProtoField.uint32, title, radix, nil, nil, f.doc)
    elseif f.type == "u64" then
      field(key, ProtoField.uint64, title, radix, nil, nil, f.doc)
    elseif f.type == "mac" then
      field(key, ProtoField.ether, title, f.doc)
    else
      field(key, ProtoField.bytes, title, nil, f.doc)
    end
  end

  for id, s in pairs(family.structs) do
    local prefix = id == family.header and "" or s.name .. "."
    for _, f in ipairs(s.fields) do
      declare(prefix, f)
    end
    if s.tail and s.tail.of == "u64" then
      field(prefix .. s.tail.name, ProtoField.uint64, s.tail.name, base.DEC_HEX)
    elseif s.tail and s.tail.of == "text" then
      field(prefix .. s.tail.name, ProtoField.string, s.tail.name, base.UNICODE)
    end
  end
  field("version", ProtoField.uint8, "version", base.DEC, nil, 0xf0, "Protocol version.")
  field("flags", ProtoField.uint8, "flags", base.HEX, nil, 0x0f, "Flags.")
  for _, f in ipairs(family.flags) do
    field("flags." .. f.name, ProtoField.bool, f.name, 8, nil, f.mask, f.doc)
  end
  field("name", ProtoField.string, "name", base.ASCII, "EtherType and kind, as tools print them.")
  field("from", ProtoField.string, "from", base.ASCII, "Who sends such frames: card or host.")
  field("data", ProtoField.bytes, "data", base.SPACE, "Bytes of an image, of memory or of a result.")
  field("text", ProtoField.string, "text", base.UNICODE, "Bytes of a text.")
  field("counter", ProtoField.uint64, "counter", base.DEC, nil, nil, "A card's counter.")
  field("auth", ProtoField.bytes, "auth trailer", base.SPACE, "Key id, counter and tag of an authenticated frame.")
  field("ciphertext", ProtoField.bytes, "ciphertext", base.SPACE, "A payload that is encrypted.")
  field("extra", ProtoField.bytes, "extra", base.SPACE, "Payload beyond what the kind has.")
  field("padding", ProtoField.bytes, "padding", base.SPACE, "What fills the frame up to Ethernet's minimum.")
  field("undecoded", ProtoField.bytes, "undecoded", base.SPACE, "Bytes of a frame that cannot be read.")
  protocol.fields = fields

  local bad = { group = expert.group.MALFORMED, severity = expert.severity.ERROR }
  local experts = {
    truncated = ProtoExpert.new(family.filter .. ".truncated", "Truncated frame", bad.group, bad.severity),
    version = ProtoExpert.new(family.filter .. ".bad_version", "Another protocol version", bad.group, bad.severity),
    packet = ProtoExpert.new(family.filter .. ".bad_packet", "Not the packet of a node", bad.group, bad.severity),
    kind = ProtoExpert.new(family.filter .. ".unknown_kind", "Unknown kind", bad.group, bad.severity),
    payload = ProtoExpert.new(family.filter .. ".bad_payload", "Malformed payload", bad.group, bad.severity),
    extra = ProtoExpert.new(family.filter .. ".has_extra", "More payload than the kind has", expert.group.PROTOCOL,
      expert.severity.WARN),
    cut = ProtoExpert.new(family.filter .. ".cut", "The capture does not hold the whole frame", expert.group.UNDECODED,
      expert.severity.NOTE),
  }
  protocol.experts = experts

  -- One frame being taken apart: its bytes, how many of them the capture holds, its tree and its line in the list.
  local Frame = {}
  Frame.__index = Frame

  function Frame:fault(expert_info, message)
    self.tree:add_proto_expert_info(expert_info, message)
    self.pinfo.cols.info:append(" [" .. message .. "]")
  end

  -- Adds a field if the capture holds it; true if so.
  function Frame:add(tree, key, at, size, ...)
    if at + size > self.held then
      return nil
    end
    return tree:add(fields[key], self.tvb(at, size), ...)
  end

  -- Adds bytes from `at` up to `stop`, as far as they are held. Nothing is added for no bytes.
  function Frame:bytes(tree, key, at, stop)
    stop = math.min(stop, self.held)
    if at < stop then
      tree:add(fields[key], self.tvb(at, stop - at))
    end
  end

  -- Adds the fields of struct `s` at `at`; returns the value of field `wanted`.
  function Frame:struct(tree, s, prefix, at, wanted)
    local found
    for _, f in ipairs(s.fields) do
      local item = self:add(tree, prefix .. f.name, at + f.at, f.size)
      if item and f.name == wanted then
        found = self.tvb(at + f.at, f.size):uint()
      end
      if item and f.enum == "ErrorCode" then
        local code = self.tvb(at + f.at, f.size):uint()
        self.pinfo.cols.info:append(" " .. (family.enums.ErrorCode[code] or "error " .. code))
      end
    end
    return found
  end

  -- Adds what follows struct `s`, from `at` up to `stop`; returns where it ends.
  function Frame:tail(tree, s, count, at, stop)
    local tail = s.tail
    if tail.of == "text" then
      self:bytes(tree, s.name .. "." .. tail.name, at, stop)
      return stop
    end
    local element = family.structs[tail.of]
    local size = element and element.size or 8
    if count > tail.max then
      self:fault(experts.payload, ("%s of %d, and at most %d are allowed"):format(tail.count, count, tail.max))
      return stop
    end
    if at + count * size > stop then
      self:fault(experts.payload, ("%s of %d do not fit %d bytes"):format(tail.count, count, stop - at))
      return stop
    end
    for i = 0, count - 1 do
      local here = at + i * size
      if element and here + size <= self.held then
        local branch = tree:add(self.tvb(here, size), tail.name .. " " .. i)
        self:struct(branch, element, element.name .. ".", here)
      elseif not element then
        self:add(tree, s.name .. "." .. tail.name, here, size)
      end
    end
    return at + count * size
  end

  function Frame:counters(first, at, stop)
    if (stop - at) % 8 ~= 0 then
      self:fault(experts.payload, ("%d bytes are not whole counters"):format(stop - at))
    end
    for i = 0, math.floor((stop - at) / 8) - 1 do
      local item = self:add(self.tree, "counter", at + 8 * i, 8)
      local name = family.counters[first + i]
      if item and name then
        item:append_text(" " .. name)
      end
    end
  end

  -- Whether the payload of this kind is encrypted, by the flags that are set.
  local function is_ciphertext(kind, set)
    local cipher = family.cipher
    return cipher and set[cipher.flag] and not cipher.clear[kind.payload]
  end

  function Frame:payload(kind, at, stop, set)
    if is_ciphertext(kind, set) then
      self:bytes(self.tree, "ciphertext", at, stop)
    elseif kind.payload == "bytes" then
      self:bytes(self.tree, "data", at, stop)
    elseif kind.payload == "text" then
      self:bytes(self.tree, "text", at, stop)
    elseif kind.payload == "counters" then
      self:counters(self.tvb(header_at.addr, 8):uint64():tonumber(), at, stop)
    else
      local s = family.structs[kind.payload]
      if kind.optional and at == stop then
        return
      elseif s and stop - at < s.size then
        self:fault(experts.payload, ("%d bytes where %s needs %d"):format(stop - at, s.name, s.size))
        self:bytes(self.tree, "undecoded", at, stop)
        return
      elseif s then
        local held = math.max(0, math.min(stop, self.held) - at)
        local branch = self.tree:add(self.tvb(at, held), s.name)
        local count = self:struct(branch, s, s.name .. ".", at, s.tail and s.tail.count)
        at = at + s.size
        -- A count that the capture does not hold leaves nothing after it either.
        if s.tail and (count or s.tail.of == "text") then
          at = self:tail(branch, s, count, at, stop)
        elseif s.tail then
          at = stop
        end
      end
      if at < stop then
        self:fault(experts.extra, ("%d bytes more than its kind has"):format(stop - at))
        self:bytes(self.tree, "extra", at, stop)
      end
    end
  end

  function protocol.dissector(tvb, pinfo, root)
    local kinds, space = family.ethertypes[pinfo.match_uint], ("0x%04x"):format(pinfo.match_uint)
    if family.ipv6 then
      -- Other packets with this next header are not ours: of IPv4, and to addresses of the world.
      local dst = outer("dst")
      if not dst or not dst:match("^f[cd]") then
        return 0
      end
      kinds, space = select(2, next(family.ethertypes)), family.filter
    end
    local have = tvb:reported_len()
    local tree = root:add(protocol, tvb())
    local frame = setmetatable({ tvb = tvb, pinfo = pinfo, tree = tree, held = tvb:len() }, Frame)
    pinfo.cols.protocol = family.title
    pinfo.cols.info = ""
    local fault = family.ipv6 and packet_fault(family.ipv6)
    if fault then
      frame:fault(experts.packet, fault)
    end

    local version = frame:add(tree, "version", 0, 1) and tvb(0, 1):bitfield(0, 4)
    if version and version ~= family.version then
      frame:fault(experts.version, ("version %d, and this dissector reads %d"):format(version, family.version))
      frame:bytes(tree, "undecoded", 1, have)
      return tvb:len()
    end
    if have < header.size then
      frame:fault(experts.truncated, ("%d bytes where the header needs %d"):format(have, header.size))
      frame:bytes(tree, "undecoded", 0, have)
      return tvb:len()
    end
    if frame.held < header.size then
      frame:fault(experts.cut, "the capture ends inside the header")
      frame:bytes(tree, "undecoded", 0, have)
      return tvb:len()
    end

    local flags = tree:add(fields.flags, tvb(0, 1))
    for _, f in ipairs(family.flags) do
      flags:add(fields["flags." .. f.name], tvb(0, 1))
    end
    local shown = {}
    for i, f in ipairs(header.fields) do
      if f.name ~= "version_flags" then
        frame:add(tree, f.name, f.at, f.size)
      end
      -- The line in the list has what follows the fields that all families share.
      if i > COMMON then
        shown[#shown + 1] = (" %s %s"):format(f.name, value(tvb, f))
      end
    end
    local number, length = tvb(1, 1):uint(), tvb(2, 2):uint()
    local kind = kinds[number]
    local name = kind and kind.name or ("%s.%d"):format(space, number)
    local bits = tvb(0, 1):bitfield(4, 4)
    local function is_set(mask)
      return math.floor(bits / mask) % 2 == 1
    end
    local set = { trailer = is_set(family.trailer_mask) }
    for _, f in ipairs(family.flags) do
      set[f.name] = is_set(f.mask)
    end
    tree:append_text(", " .. name)
    pinfo.cols.info = ("%s%s length %d%s%s"):format(name, table.concat(shown), length,
      bits ~= 0 and (" flags 0x%x"):format(bits) or "", fault and " [" .. fault .. "]" or "")

    local stop = header.size + length
    if stop > have then
      frame:fault(experts.truncated, ("length %d, and %d bytes follow the header"):format(length, have - header.size))
      frame:bytes(tree, "undecoded", header.size, have)
      return tvb:len()
    end
    if stop > frame.held then
      frame:fault(experts.cut, "the capture ends inside the payload")
    end
    if kind then
      tree:add(fields.name, tvb(1, 1), name):set_generated()
      tree:add(fields.from, tvb(1, 1), kind.from):set_generated()
      frame:payload(kind, header.size, stop, set)
    else
      frame:fault(experts.kind, ("no kind %d of %s"):format(number, family.ipv6 and space or "EtherType " .. space))
      frame:bytes(tree, "undecoded", header.size, stop)
    end
    if set.trailer and stop + trailer.size <= have then
      if stop + trailer.size <= frame.held then
        local branch = tree:add(fields.auth, tvb(stop, trailer.size))
        frame:struct(branch, trailer, trailer.name .. ".", stop)
      end
      stop = stop + trailer.size
    end
    -- Ethernet fills short frames; a packet ends where its frame ends.
    if family.ipv6 and stop < have then
      frame:fault(experts.packet, ("%d bytes more than its frame has"):format(have - stop))
    end
    frame:bytes(tree, "padding", stop, have)
    return tvb:len()
  end

  if family.ipv6 then
    DissectorTable.get("ip.proto"):add(family.ipv6.next_header, protocol)
    return
  end
  local by_ethertype = DissectorTable.get("ethertype")
  for value in pairs(family.ethertypes) do
    by_ethertype:add(value, protocol)
  end
end

for _, family in ipairs(FAMILIES) do
  register(family)
end
