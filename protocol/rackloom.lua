-- Made from protocol/ by `cargo run -p protogen`. Change that file, not this one.
--
-- Wireshark dissector. Use it with `wireshark -X lua_script:protocol/rackloom.lua`, or copy it into the
-- folder of personal Lua plugins.

local FAMILIES = {
  {
    filter = "rackloom_bridge", title = "RackloomBridge",
    version = 1, header = "Header",
    trailer = "AuthTrailer", trailer_mask = 0x4,
    ipv6 = { next_header = 253, hop_limit = 255, subnet = "fd524c0000000000" },
    flags = {
      { name = "asks", mask = 0x1, doc = "The sender asks for an acknowledgement of what has come, at once." },
      { name = "last", mask = 0x2, doc = "The last packet of a stream's message." },
      { name = "auth", mask = 0x4, doc = "Reserved: an AuthTrailer of 28 bytes follows the payload. A node without keys drops such a frame and counts it." },
      { name = "selective", mask = 0x8, doc = "The sender takes selective acknowledgements." },
    },
    enums = {
      BridgeStatus = {
        [0] = "ok",
        [1] = "no-window",
        [2] = "denied",
        [3] = "malformed",
        [4] = "memory-failed",
        [5] = "busy",
      },
      BridgeOperation = {
        [1] = "fetch-add",
        [2] = "compare-swap",
      },
    },
    structs = {
      Header = {
        name = "header",
        size = 42,
        fields = {
          { name = "version_flags", at = 0, size = 1, type = "u8",
            doc = "Protocol version in the high four bits, flags in the low four." },
          { name = "kind", at = 1, size = 1, type = "u8",
            doc = "What the frame is." },
          { name = "length", at = 2, size = 2, type = "u16",
            doc = "Payload bytes that follow, without the padding of a frame." },
          { name = "id", at = 4, size = 2, type = "u16",
            doc = "Number of the transaction, which the requester chooses and the response repeats." },
          { name = "seq", at = 6, size = 4, type = "u32",
            doc = "Sequence number, for the kinds that have one: from 1 on for each pair of nodes, direction and channel. It wraps." },
          { name = "src_epoch", at = 10, size = 4, type = "u32",
            doc = "The sender's life: a number, not 0, of its own start." },
          { name = "dst_epoch", at = 14, size = 4, type = "u32",
            doc = "The newest life that the sender knows of the receiver; 0: none." },
          { name = "ack", at = 18, size = 4, type = "u32",
            doc = "First sequence number that has not come from the receiver. Valid if dst_epoch is not 0." },
          { name = "limit", at = 22, size = 4, type = "u32",
            doc = "First sequence number that the receiver may not send. Valid if dst_epoch is not 0." },
          { name = "addr", at = 26, size = 8, type = "u64",
            doc = "Address in the receiver's windows; for streams the offset of the payload in its message." },
          { name = "count", at = 34, size = 4, type = "u32",
            doc = "Bytes that are asked for, given or applied." },
          { name = "tag", at = 38, size = 2, type = "u16",
            doc = "Of a response its status, of a stream its number at the receiver, of an atomic request the operation; else 0." },
          { name = "channel", at = 40, size = 2, type = "u16",
            doc = "0: memory, 1: streams." },
        },
      },
      AuthTrailer = {
        name = "auth_trailer",
        size = 28,
        fields = {
          { name = "key", at = 0, size = 4, type = "u32",
            doc = "Id of the key." },
          { name = "counter", at = 4, size = 8, type = "u64",
            doc = "Grows with each frame under this key, so that a repeated frame is recognised." },
          { name = "tag", at = 12, size = 16, type = "bytes",
            doc = "Authentication tag." },
        },
      },
      Sack = {
        name = "sack",
        size = 32,
        fields = {
          { name = "bitmap", at = 0, size = 32, type = "bytes",
            doc = "What has come and is kept, beyond the first missing one." },
        },
      },
      Atomic = {
        name = "atomic",
        size = 16,
        fields = {
          { name = "operand", at = 0, size = 8, type = "u64",
            doc = "The summand, or the new value." },
          { name = "compare", at = 8, size = 8, type = "u64",
            doc = "The value that must be there for the new one to be written; 0 for a sum." },
        },
      },
      BatchRecord = {
        name = "batch_record",
        size = 16,
        fields = {
          { name = "addr", at = 0, size = 8, type = "u64",
            doc = "Where the bytes go." },
          { name = "length", at = 8, size = 2, type = "u16",
            doc = "How many there are, not 0." },
          { name = "reserved", at = 10, size = 6, type = "bytes",
            doc = "Zero." },
        },
      },
    },
    ethertypes = {
      [0x86DD] = {
        [1] = { name = "bridge.read-request", from = "both", payload = "none" },
        [2] = { name = "bridge.write-request", from = "both", payload = "bytes" },
        [3] = { name = "bridge.read-response", from = "both", payload = "bytes" },
        [4] = { name = "bridge.write-response", from = "both", payload = "none" },
        [5] = { name = "bridge.stream", from = "both", payload = "bytes" },
        [6] = { name = "bridge.ack", from = "both", payload = "Sack", optional = true },
        [7] = { name = "bridge.nack", from = "both", payload = "Sack", optional = true },
        [8] = { name = "bridge.unack", from = "both", payload = "none" },
        [9] = { name = "bridge.atomic-request", from = "both", payload = "Atomic" },
        [10] = { name = "bridge.write-batch", from = "both", payload = "bytes" },
      },
    },
    counters = {
    },
  },
  {
    filter = "rackloom", title = "Rackloom",
    version = 1, header = "Header",
    trailer = "AuthTrailer", trailer_mask = 0x4,
    cipher = { flag = "encrypted", clear = { Claim = true, Grant = true } },
    flags = {
      { name = "resend", mask = 0x1, doc = "This frame, or one like it, was sent before. For statistics only." },
      { name = "ack_now", mask = 0x2, doc = "The sender asks for an acknowledgement of what arrived so far, at once." },
      { name = "auth", mask = 0x4, doc = "An AuthTrailer of 28 bytes follows the payload, and no padding. A card without keys drops such a frame and counts it; docs/src/internals/authentication.md says which frames a card with a key takes without." },
      { name = "encrypted", mask = 0x8, doc = "Of a claim: the host wants the session encrypted; of a grant: it is. Of all else: the payload is ciphertext, and its key is the session's or, of image data, the load's. docs/src/reference/keys.md says how." },
    },
    enums = {
      CardKind = {
        [1] = "model",
        [2] = "rtl",
        [3] = "board",
      },
      CardState = {
        [0] = "empty",
        [1] = "active",
        [2] = "running",
        [3] = "loading",
        [4] = "configuring",
        [5] = "written",
        [6] = "faulty",
      },
      Restart = {
        [1] = "itself",
        [2] = "refresh",
      },
      AnnounceReason = {
        [1] = "link-up",
        [2] = "solicited",
        [3] = "periodic",
        [4] = "changed",
        [5] = "restarted",
        [6] = "memory-failed",
        [7] = "role-failed",
      },
      Scrub = {
        [0] = "keep",
        [1] = "zero",
      },
      ErrorCode = {
        [0] = "ok",
        [1] = "claimed",
        [2] = "stale-epoch",
        [3] = "bad-request",
        [4] = "bad-address",
        [5] = "busy",
        [6] = "no-role",
        [7] = "unknown-kernel",
        [8] = "bad-arguments",
        [9] = "unknown-launch",
        [10] = "memory-fault",
        [11] = "unsupported",
        [12] = "key-needed",
        [13] = "stale-boot",
        [14] = "key-revoked",
        [15] = "encryption-needed",
        [16] = "image-too-large",
        [17] = "image-digest",
        [18] = "image-format",
        [19] = "image-version",
        [20] = "image-target",
        [21] = "image-part",
        [22] = "image-memory",
        [23] = "image-signature",
        [32] = "kernel-trap",
        [33] = "kernel-fuel",
        [34] = "cancelled",
        [35] = "kernel-remote",
      },
    },
    structs = {
      Header = {
        name = "header",
        size = 18,
        fields = {
          { name = "version_flags", at = 0, size = 1, type = "u8",
            doc = "Protocol version in the high four bits, flags in the low four." },
          { name = "kind", at = 1, size = 1, type = "u8",
            doc = "Sub-kind, per EtherType." },
          { name = "length", at = 2, size = 2, type = "u16",
            doc = "Payload bytes that follow, without Ethernet padding." },
          { name = "epoch", at = 4, size = 2, type = "u16",
            doc = "The claim's epoch (unicast) or the group id (multicast); 0: none." },
          { name = "seq", at = 6, size = 4, type = "u32",
            doc = "Sequence or request number; its space depends on the kind." },
          { name = "addr", at = 10, size = 8, type = "u64",
            doc = "Memory address, image offset or kernel number; its meaning depends on the kind." },
        },
      },
      AuthTrailer = {
        name = "auth_trailer",
        size = 28,
        fields = {
          { name = "key", at = 0, size = 4, type = "u32",
            doc = "Of claims, releases and their answers: the generation of the rack's keys that the tag is by. Zero of all else." },
          { name = "counter", at = 4, size = 8, type = "u64",
            doc = "Grows with each frame under this key, so that a repeated frame is recognised." },
          { name = "tag", at = 12, size = 16, type = "bytes",
            doc = "Authentication tag." },
        },
      },
      Announce = {
        name = "announce",
        size = 104,
        fields = {
          { name = "mac0", at = 0, size = 6, type = "mac",
            doc = "Address of port 0, the one Rackloom uses." },
          { name = "mac1", at = 6, size = 6, type = "mac",
            doc = "Address of port 1, or zeros." },
          { name = "vendor", at = 12, size = 2, type = "u16",
            doc = "Vendor id." },
          { name = "product", at = 14, size = 2, type = "u16",
            doc = "Product id." },
          { name = "unit", at = 16, size = 2, type = "u16",
            doc = "Slot or switch setting of the card: its number in the rack." },
          { name = "card_kind", at = 18, size = 1, type = "u8", enum = "CardKind",
            doc = "What runs the card." },
          { name = "state", at = 19, size = 1, type = "u8", enum = "CardState",
            doc = "What the card is doing." },
          { name = "reason", at = 20, size = 1, type = "u8", enum = "AnnounceReason",
            doc = "Why it announces itself." },
          { name = "ports", at = 21, size = 1, type = "u8",
            doc = "Network ports." },
          { name = "bulk", at = 22, size = 2, type = "u16",
            doc = "Most payload bytes the card takes and sends in a frame, a multiple of 64." },
          { name = "boot", at = 24, size = 4, type = "u32",
            doc = "Random number drawn at each boot: a change tells that the card has restarted." },
          { name = "clock_khz", at = 28, size = 4, type = "u32",
            doc = "Clock of the role, kHz." },
          { name = "memory", at = 32, size = 8, type = "u64",
            doc = "DDR bytes the host may address: 0 to memory - 1." },
          { name = "port_rate", at = 40, size = 8, type = "u64",
            doc = "Rate of port 0, bits a second." },
          { name = "stage_rate", at = 48, size = 8, type = "u64",
            doc = "Rate at which image data can be staged, bytes a second; 0: as fast as it comes." },
          { name = "config_rate", at = 56, size = 8, type = "u64",
            doc = "Rate of the configuration port, bytes a second; 0: instantly." },
          { name = "owner", at = 64, size = 6, type = "mac",
            doc = "The claim's owner, or zeros." },
          { name = "asks", at = 70, size = 1, type = "u8",
            doc = "What the card asks for, the sum of ASKS_KEY, ASKS_SIGNATURE and ASKS_ENCRYPTION." },
          { name = "kernels", at = 71, size = 1, type = "u8",
            doc = "Kernels that the active image offers." },
          { name = "digest", at = 72, size = 32, type = "bytes",
            doc = "BLAKE3 digest of the active image, or zeros." },
        },
      },
      Solicit = {
        name = "solicit",
        size = 8,
        fields = {
          { name = "window_us", at = 0, size = 4, type = "u32",
            doc = "Answers spread over so many microseconds, at random; WINDOW_US_MAX at most, whatever is asked." },
          { name = "reserved", at = 4, size = 4, type = "u32",
            doc = "Zero." },
        },
      },
      Claim = {
        name = "claim",
        size = 16,
        fields = {
          { name = "nonce", at = 0, size = 8, type = "u64",
            doc = "Random number of this claim attempt. Another nonce from the same owner takes the claim over: the host has restarted." },
          { name = "lease_ms", at = 8, size = 4, type = "u32",
            doc = "The claim ends when the owner was silent so long, 100 to 60000." },
          { name = "group", at = 12, size = 2, type = "u16",
            doc = "Group id for Go frames, 0: none." },
          { name = "scrub", at = 14, size = 1, type = "u8", enum = "Scrub",
            doc = "Whether DDR is zeroed first." },
          { name = "beats", at = 15, size = 1, type = "u8",
            doc = "Most payload bytes of a frame that reach the host, in beats of 64; 0: 1472 bytes. The card keeps to it and to its own bulk payload." },
        },
      },
      Grant = {
        name = "grant",
        size = 16,
        fields = {
          { name = "nonce", at = 0, size = 8, type = "u64",
            doc = "The claim's." },
          { name = "lease_ms", at = 8, size = 4, type = "u32",
            doc = "The lease granted." },
          { name = "boot", at = 12, size = 4, type = "u32",
            doc = "The card's boot number." },
        },
      },
      Proof = {
        name = "proof",
        size = 8,
        fields = {
          { name = "card_nonce", at = 0, size = 8, type = "u64",
            doc = "Random number of the card for this claim: with the claim's it makes the session's key." },
        },
      },
      Release = {
        name = "release",
        size = 8,
        fields = {
          { name = "scrub", at = 0, size = 1, type = "u8", enum = "Scrub",
            doc = "Whether DDR is zeroed before anyone else can claim the card." },
          { name = "reserved", at = 1, size = 7, type = "bytes",
            doc = "Zero." },
        },
      },
      Refusal = {
        name = "refusal",
        size = 16,
        fields = {
          { name = "code", at = 0, size = 2, type = "u16", enum = "ErrorCode",
            doc = "The reason." },
          { name = "holder", at = 2, size = 6, type = "mac",
            doc = "With `claimed`: the owner of the claim; else zeros." },
          { name = "detail", at = 8, size = 8, type = "u64",
            doc = "A number that goes with the code: the bound that was passed, the lease left in ms." },
        },
      },
      Window = {
        name = "window",
        size = 24,
        fields = {
          { name = "base", at = 0, size = 8, type = "u64",
            doc = "First DDR address of the window." },
          { name = "length", at = 8, size = 8, type = "u64",
            doc = "Its bytes; 0: the window is closed." },
          { name = "peer", at = 16, size = 6, type = "mac",
            doc = "The node that may use it; zeros: any." },
          { name = "rights", at = 22, size = 1, type = "u8",
            doc = "What it may do: bit 0 reads, bit 1 writes, bit 2 atomic requests, bit 3 streams." },
          { name = "reserved", at = 23, size = 1, type = "u8",
            doc = "Zero." },
        },
      },
      Route = {
        name = "route",
        size = 8,
        fields = {
          { name = "peer", at = 0, size = 6, type = "mac",
            doc = "The receiver; zeros: the stream has no route." },
          { name = "stream", at = 6, size = 2, type = "u16",
            doc = "The stream's number there." },
        },
      },
      Pong = {
        name = "pong",
        size = 16,
        fields = {
          { name = "boot", at = 0, size = 4, type = "u32",
            doc = "The card's boot number." },
          { name = "state", at = 4, size = 1, type = "u8", enum = "CardState",
            doc = "What the card is doing." },
          { name = "queued", at = 5, size = 1, type = "u8",
            doc = "Launches accepted and not finished." },
          { name = "reserved", at = 6, size = 2, type = "u16",
            doc = "Zero." },
          { name = "uptime_ns", at = 8, size = 8, type = "u64",
            doc = "Nanoseconds since boot." },
        },
      },
      ImageBegin = {
        name = "image_begin",
        size = 48,
        fields = {
          { name = "length", at = 0, size = 8, type = "u64",
            doc = "Image bytes, 1 to 256 MiB." },
          { name = "chunk", at = 8, size = 2, type = "u16",
            doc = "Bytes in each data frame but the last, a multiple of 64." },
          { name = "group", at = 10, size = 2, type = "u16",
            doc = "Group id of this load, not 0." },
          { name = "members", at = 12, size = 4, type = "u32",
            doc = "Cards in this load, for the jitter." },
          { name = "digest", at = 16, size = 32, type = "bytes",
            doc = "BLAKE3 digest of the whole image." },
        },
      },
      BeginKey = {
        name = "begin_key",
        size = 16,
        fields = {
          { name = "key", at = 0, size = 16, type = "bytes",
            doc = "Of the load: what the payloads of its data are encrypted under." },
        },
      },
      Poll = {
        name = "poll",
        size = 8,
        fields = {
          { name = "window_us", at = 0, size = 4, type = "u32",
            doc = "Answers spread over so many microseconds, at random; WINDOW_US_MAX at most." },
          { name = "reserved", at = 4, size = 4, type = "u32",
            doc = "Zero." },
        },
      },
      Missing = {
        name = "missing",
        size = 16,
        fields = {
          { name = "missing", at = 0, size = 4, type = "u32",
            doc = "Chunks the card lacks in all, also those it does not list." },
          { name = "ranges", at = 4, size = 2, type = "u16",
            doc = "Ranges that follow, at most 182." },
          { name = "more", at = 6, size = 2, type = "u16",
            doc = "Further report frames of this poll that follow." },
          { name = "reserved", at = 8, size = 8, type = "u64",
            doc = "Zero." },
        },
        tail = { name = "range", of = "ChunkRange", count = "ranges", max = 182 },
      },
      ChunkRange = {
        name = "chunk_range",
        size = 8,
        fields = {
          { name = "first", at = 0, size = 4, type = "u32",
            doc = "First chunk that is missing." },
          { name = "chunks", at = 4, size = 4, type = "u32",
            doc = "How many are missing from there on." },
        },
      },
      Active = {
        name = "active",
        size = 40,
        fields = {
          { name = "digest", at = 0, size = 32, type = "bytes",
            doc = "BLAKE3 digest of the image that is now active." },
          { name = "configure_ns", at = 32, size = 8, type = "u64",
            doc = "Time the configuration port took, nanoseconds." },
        },
      },
      Written = {
        name = "written",
        size = 48,
        fields = {
          { name = "digest", at = 0, size = 32, type = "bytes",
            doc = "BLAKE3 digest of the image." },
          { name = "write_ns", at = 32, size = 8, type = "u64",
            doc = "Time the configuration port took, nanoseconds." },
          { name = "restart", at = 40, size = 1, type = "u8", enum = "Restart",
            doc = "What the card awaits." },
          { name = "reserved", at = 41, size = 7, type = "bytes",
            doc = "Zero." },
        },
      },
      Failure = {
        name = "failure",
        size = 8,
        fields = {
          { name = "code", at = 0, size = 2, type = "u16", enum = "ErrorCode",
            doc = "The reason." },
          { name = "reserved", at = 2, size = 6, type = "bytes",
            doc = "Zero." },
        },
        tail = { name = "text", of = "text" },
      },
      Read = {
        name = "read",
        size = 8,
        fields = {
          { name = "length", at = 0, size = 4, type = "u32",
            doc = "Bytes, 1 to the card's bulk payload." },
          { name = "reserved", at = 4, size = 4, type = "u32",
            doc = "Zero." },
        },
      },
      Ack = {
        name = "ack",
        size = 32,
        fields = {
          { name = "bitmap", at = 0, size = 32, type = "bytes",
            doc = "What is there beyond the first missing one." },
        },
      },
      Launch = {
        name = "launch",
        size = 32,
        fields = {
          { name = "fuel", at = 0, size = 8, type = "u64",
            doc = "Most role clock cycles the kernel may take; 0: the card's own bound." },
          { name = "out_addr", at = 8, size = 8, type = "u64",
            doc = "DDR address of the output region." },
          { name = "out_length", at = 16, size = 8, type = "u64",
            doc = "Bytes of the output region to push when the kernel is done; 0: none." },
          { name = "go", at = 24, size = 4, type = "u32",
            doc = "0: start at once; else hold until a Go with this seq." },
          { name = "credit", at = 28, size = 2, type = "u16",
            doc = "Chunks of output the card may send unasked." },
          { name = "args", at = 30, size = 2, type = "u16",
            doc = "Argument words that follow." },
        },
        tail = { name = "arg", of = "u64", count = "args", max = 32 },
      },
      Done = {
        name = "done",
        size = 40,
        fields = {
          { name = "status", at = 0, size = 2, type = "u16", enum = "ErrorCode",
            doc = "0: success." },
          { name = "chunk", at = 2, size = 2, type = "u16",
            doc = "Bytes in each data frame but the last." },
          { name = "chunks", at = 4, size = 4, type = "u32",
            doc = "Data frames of the output." },
          { name = "value", at = 8, size = 8, type = "u64",
            doc = "What the kernel returned." },
          { name = "cycles", at = 16, size = 8, type = "u64",
            doc = "Role clock cycles it took." },
          { name = "started_ns", at = 24, size = 8, type = "u64",
            doc = "Card time when it started, nanoseconds since boot." },
          { name = "finished_ns", at = 32, size = 8, type = "u64",
            doc = "Card time when it ended." },
        },
      },
      ResultAck = {
        name = "result_ack",
        size = 48,
        fields = {
          { name = "next", at = 0, size = 4, type = "u32",
            doc = "First chunk not yet received; equal to `chunks` with done = 1, the launch is forgotten." },
          { name = "limit", at = 4, size = 4, type = "u32",
            doc = "Chunks below this number may be sent." },
          { name = "done", at = 8, size = 1, type = "u8",
            doc = "1: the Done frame has arrived." },
          { name = "reserved", at = 9, size = 7, type = "bytes",
            doc = "Zero." },
          { name = "bitmap", at = 16, size = 32, type = "bytes",
            doc = "As in Ack: bit i stands for chunk next + 1 + i." },
        },
      },
    },
    ethertypes = {
      [0x80EF] = {
        [1] = { name = "discovery.announce", from = "card", payload = "Announce" },
        [2] = { name = "discovery.solicit", from = "host", payload = "Solicit" },
        [3] = { name = "discovery.goodbye", from = "card", payload = "none" },
      },
      [0x80EC] = {
        [1] = { name = "session.claim", from = "host", payload = "Claim" },
        [2] = { name = "session.grant", from = "card", payload = "Grant" },
        [3] = { name = "session.refuse", from = "card", payload = "Refusal" },
        [4] = { name = "session.release", from = "host", payload = "Release" },
        [5] = { name = "session.released", from = "card", payload = "none" },
        [6] = { name = "session.ping", from = "host", payload = "none" },
        [7] = { name = "session.pong", from = "card", payload = "Pong" },
        [8] = { name = "session.counters-get", from = "host", payload = "none" },
        [9] = { name = "session.counters", from = "card", payload = "counters" },
        [10] = { name = "session.manifest-get", from = "host", payload = "none" },
        [11] = { name = "session.manifest", from = "card", payload = "text" },
        [12] = { name = "session.window-set", from = "host", payload = "Window" },
        [13] = { name = "session.window-done", from = "card", payload = "none" },
        [14] = { name = "session.route-set", from = "host", payload = "Route" },
        [15] = { name = "session.route-done", from = "card", payload = "none" },
      },
      [0x80AA] = {
        [1] = { name = "image.begin", from = "host", payload = "ImageBegin" },
        [2] = { name = "image.data", from = "host", payload = "bytes" },
        [3] = { name = "image.poll", from = "host", payload = "Poll" },
        [4] = { name = "image.commit", from = "host", payload = "none" },
        [5] = { name = "image.abort", from = "host", payload = "none" },
      },
      [0x80AB] = {
        [1] = { name = "image-confirm.ready", from = "card", payload = "none" },
        [2] = { name = "image-confirm.missing", from = "card", payload = "Missing" },
        [3] = { name = "image-confirm.staged", from = "card", payload = "none" },
        [4] = { name = "image-confirm.active", from = "card", payload = "Active" },
        [6] = { name = "image-confirm.committed", from = "card", payload = "none" },
        [7] = { name = "image-confirm.written", from = "card", payload = "Written" },
        [5] = { name = "image-confirm.failed", from = "card", payload = "Failure" },
      },
      [0x80DD] = {
        [1] = { name = "input.write", from = "host", payload = "bytes" },
        [2] = { name = "input.read", from = "host", payload = "Read" },
      },
      [0x80DB] = {
        [1] = { name = "input-confirm.write-ack", from = "card", payload = "Ack" },
        [2] = { name = "input-confirm.read-data", from = "card", payload = "bytes" },
        [3] = { name = "input-confirm.nak", from = "card", payload = "Refusal" },
      },
      [0x80CC] = {
        [1] = { name = "exec.launch", from = "host", payload = "Launch" },
        [2] = { name = "exec.go", from = "host", payload = "none" },
        [3] = { name = "exec.cancel", from = "host", payload = "none" },
        [4] = { name = "exec.query", from = "host", payload = "none" },
        [5] = { name = "exec.result-ack", from = "host", payload = "ResultAck" },
      },
      [0x80CB] = {
        [1] = { name = "result.accepted", from = "card", payload = "none" },
        [2] = { name = "result.done", from = "card", payload = "Done" },
        [3] = { name = "result.data", from = "card", payload = "bytes" },
        [4] = { name = "result.refused", from = "card", payload = "Refusal" },
      },
    },
    counters = {
      [0] = "rx_frames",
      [1] = "rx_bytes",
      [2] = "tx_frames",
      [3] = "tx_bytes",
      [4] = "drop_foreign",
      [5] = "drop_truncated",
      [6] = "drop_version",
      [7] = "drop_kind",
      [8] = "drop_auth",
      [9] = "drop_epoch",
      [10] = "drop_malformed",
      [11] = "drop_duplicate",
      [12] = "drop_window",
      [13] = "announces",
      [14] = "claims",
      [15] = "leases_expired",
      [16] = "image_chunks",
      [17] = "image_reports",
      [18] = "image_suppressed",
      [19] = "images_activated",
      [20] = "images_failed",
      [21] = "writes",
      [22] = "write_bytes",
      [23] = "reads",
      [24] = "read_bytes",
      [25] = "launches",
      [26] = "kernels_done",
      [27] = "kernels_failed",
      [28] = "kernel_cycles",
      [29] = "result_chunks",
      [30] = "result_resends",
      [31] = "refusals",
      [32] = "drop_queue",
      [33] = "rx_words",
      [34] = "tx_words",
      [35] = "drop_check",
      [36] = "bridge_rx",
      [37] = "bridge_tx",
      [38] = "bridge_drop_foreign",
      [39] = "bridge_drop_malformed",
      [40] = "bridge_drop_epoch",
      [41] = "bridge_drop_duplicate",
      [42] = "bridge_denied",
      [43] = "bridge_resent",
      [44] = "passed_frames",
      [45] = "auth_untagged",
      [46] = "auth_unknown",
      [47] = "auth_wrong",
      [48] = "auth_replay",
    },
  },
  {
    filter = "rackloom_link", title = "RackloomLink",
    version = 1, header = "Header",
    trailer = "AuthTrailer", trailer_mask = 0x4,
    flags = {
      { name = "asks", mask = 0x1, doc = "The sender asks for an acknowledgement of what has come, at once." },
      { name = "auth", mask = 0x4, doc = "Reserved: an AuthTrailer of 28 bytes follows the payload. A card drops such a frame and counts it." },
      { name = "selective", mask = 0x8, doc = "The sender takes selective acknowledgements." },
    },
    enums = {
    },
    structs = {
      Header = {
        name = "header",
        size = 50,
        fields = {
          { name = "version_flags", at = 0, size = 1, type = "u8",
            doc = "Protocol version in the high four bits, flags in the low four." },
          { name = "kind", at = 1, size = 1, type = "u8",
            doc = "What the frame is." },
          { name = "length", at = 2, size = 2, type = "u16",
            doc = "Payload bytes that follow, without the padding of a frame." },
          { name = "slot", at = 4, size = 2, type = "u16",
            doc = "The sender's context that it is from, 0 to CONTEXTS - 1." },
          { name = "tag", at = 6, size = 2, type = "u16",
            doc = "Which message of the operation between these two cards it is about." },
          { name = "reserved", at = 8, size = 2, type = "u16",
            doc = "Zero." },
          { name = "src_epoch", at = 10, size = 4, type = "u32",
            doc = "The sender's life on this link: a number, not 0." },
          { name = "dst_epoch", at = 14, size = 4, type = "u32",
            doc = "The newest life that the sender knows of the receiver; 0: none." },
          { name = "seq", at = 18, size = 4, type = "u32",
            doc = "Sequence number, for the kinds that have one: from 1 on for each direction. It wraps." },
          { name = "ack", at = 22, size = 4, type = "u32",
            doc = "First sequence number that has not come from the receiver. Valid if dst_epoch is not 0." },
          { name = "limit", at = 26, size = 4, type = "u32",
            doc = "First sequence number that the receiver may not send. Valid if dst_epoch is not 0." },
          { name = "number", at = 30, size = 4, type = "u32",
            doc = "Number of the group's operation." },
          { name = "offset", at = 34, size = 4, type = "u32",
            doc = "Offset of the payload in its message." },
          { name = "total", at = 38, size = 4, type = "u32",
            doc = "Bytes of the whole message." },
          { name = "group", at = 42, size = 8, type = "u64",
            doc = "The group of cards." },
        },
      },
      AuthTrailer = {
        name = "auth_trailer",
        size = 28,
        fields = {
          { name = "key", at = 0, size = 4, type = "u32",
            doc = "Id of the key." },
          { name = "counter", at = 4, size = 8, type = "u64",
            doc = "Grows with each frame under this key, so that a repeated frame is recognised." },
          { name = "tag", at = 12, size = 16, type = "bytes",
            doc = "Authentication tag." },
        },
      },
      Sack = {
        name = "sack",
        size = 32,
        fields = {
          { name = "bitmap", at = 0, size = 32, type = "bytes",
            doc = "What has come and is kept, beyond the first missing one." },
        },
      },
      Neighbour = {
        name = "neighbour",
        size = 8,
        fields = {
          { name = "mac", at = 0, size = 6, type = "mac",
            doc = "Address of the card's port 0." },
          { name = "port", at = 6, size = 1, type = "u8",
            doc = "Number of the port." },
          { name = "reserved", at = 7, size = 1, type = "u8",
            doc = "Zero." },
        },
      },
    },
    ethertypes = {
      [0x88B5] = {
        [1] = { name = "link.data", from = "card", payload = "bytes" },
        [2] = { name = "link.ready", from = "card", payload = "none" },
        [3] = { name = "link.done", from = "card", payload = "none" },
        [4] = { name = "link.beat", from = "card", payload = "Neighbour" },
        [8] = { name = "link.failed", from = "card", payload = "none" },
        [5] = { name = "link.ack", from = "card", payload = "Sack", optional = true },
        [6] = { name = "link.nack", from = "card", payload = "Sack", optional = true },
        [7] = { name = "link.unack", from = "card", payload = "none" },
      },
    },
    counters = {
    },
  },
}

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
