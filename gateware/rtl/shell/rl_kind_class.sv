// What the analyzer must know of a frame's kind: a table in block RAM. The kinds are those of
// protocol.toml; which addresses each may reach is the card's rule.
module rl_kind_class
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,

  input  logic        valid_i,      // These come in this cycle.
  input  logic [15:0] ether_type_i,
  input  logic [7:0]  kind_i,

  output kind_class_t class_o       // Two cycles later.
);
  // These bits tell the EtherTypes from each other, and kinds are numbered from 1 on, in four bits.
  typedef logic [8:0] index_t;
  // verilator lint_off UNUSEDSIGNAL
  function automatic index_t index(logic [15:0] ether_type, logic [3:0] kind);
    return {ether_type[6:4], ether_type[1:0], kind};
  endfunction
  // verilator lint_on UNUSEDSIGNAL
  // These bits are the same for all.
  localparam logic [8:0] Common = EtherTypeSession[15:7];

  typedef struct packed {
    logic [1:0] rest; // The EtherType's bits that are not looked at yet.
    kind_class_t class_;
  } entry_t;
  typedef entry_t table_t[512];

  function automatic table_t make_table();
    table_t made;
    logic discovery, session, image, image_confirm, input_, input_confirm, exec, result;
    logic [15:0] ether_type;
    logic [3:0] kind;
    entry_t entry;
    for (int unsigned i = 0; i < 512; i++) begin
      kind = i[3:0];
      discovery = index(EtherTypeDiscovery, kind) == index_t'(i);
      session = index(EtherTypeSession, kind) == index_t'(i);
      image = index(EtherTypeImage, kind) == index_t'(i);
      image_confirm = index(EtherTypeImageConfirm, kind) == index_t'(i);
      input_ = index(EtherTypeInput, kind) == index_t'(i);
      input_confirm = index(EtherTypeInputConfirm, kind) == index_t'(i);
      exec = index(EtherTypeExec, kind) == index_t'(i);
      result = index(EtherTypeResult, kind) == index_t'(i);
      ether_type = '0;
      if (discovery) ether_type = EtherTypeDiscovery;
      if (session) ether_type = EtherTypeSession;
      if (image) ether_type = EtherTypeImage;
      if (image_confirm) ether_type = EtherTypeImageConfirm;
      if (input_) ether_type = EtherTypeInput;
      if (input_confirm) ether_type = EtherTypeInputConfirm;
      if (exec) ether_type = EtherTypeExec;
      if (result) ether_type = EtherTypeResult;

      entry.rest = ether_type[3:2];
      entry.class_.ether = ether_type != 0;
      entry.class_.known = kind != 0 && (
          ((discovery || input_confirm) && kind <= 4'd3) ||
          (session && kind <= 4'd11) ||
          ((image || exec) && kind <= 4'd5) ||
          (image_confirm && kind <= 4'd6) ||
          (input_ && kind <= 4'd2) ||
          (result && kind <= 4'd4));
      // What follows holds for known kinds.
      entry.class_.unicast = input_ ||
          (session && (kind == 4'(KindSessionClaim) || kind == 4'(KindSessionRelease) ||
                       kind == 4'(KindSessionPing) || kind == 4'(KindSessionCountersGet) ||
                       kind == 4'(KindSessionManifestGet))) ||
          (image && kind == 4'(KindImageBegin)) ||
          (exec && kind != 4'(KindExecGo));
      entry.class_.group = image_confirm && kind == 4'(KindImageConfirmMissing);
      entry.class_.any = (discovery && kind == 4'(KindDiscoverySolicit)) ||
          (image && kind != 4'(KindImageBegin)) ||
          (exec && kind == 4'(KindExecGo));
      entry.class_.claims = input_ || exec;
      entry.class_.write = input_ && kind == 4'(KindInputWrite);
      entry.class_.read = input_ && kind == 4'(KindInputRead);
      entry.class_.data = image && kind == 4'(KindImageData);
      entry.class_.launch = exec && kind == 4'(KindExecLaunch);
      made[i] = entry;
    end
    return made;
  endfunction

  (* ram_style = "block" *) entry_t mem[512];
  initial mem = make_table();

  entry_t entry_q;
  logic common_q, low_q;
  logic [1:0] rest_q;
  always_ff @(posedge clk_net_i) begin
    if (valid_i) begin
      entry_q <= mem[index(ether_type_i, kind_i[3:0])];
      common_q <= ether_type_i[15:7] == Common;
      rest_q <= ether_type_i[3:2];
      low_q <= kind_i[7:4] == 0;
    end
  end
  always_ff @(posedge clk_net_i) begin
    class_o <= entry_q.class_;
    class_o.known <= entry_q.class_.known && low_q;
    if (!common_q || rest_q != entry_q.rest) class_o <= '0;
  end
endmodule
