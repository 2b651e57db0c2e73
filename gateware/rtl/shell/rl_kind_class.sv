// What the analyzer must know of a frame's kind. The kinds are those of protocol.toml; which
// addresses each may reach is the card's rule.
module rl_kind_class
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,

  input  logic        ether_valid_i, // The EtherType is taken with the head's registers,
  input  logic [15:0] ether_type_i,
  input  logic [7:0]  kind_i,        // and the kind comes out of them.

  output kind_class_t class_o        // One cycle after kind_i.
);
  typedef struct packed {
    logic discovery, session, image, image_confirm, input_, input_confirm, exec, result;
  } ether_t;
  ether_t ether_q;

  always_ff @(posedge clk_net_i) begin
    if (ether_valid_i) begin
      ether_q.discovery <= ether_type_i == EtherTypeDiscovery;
      ether_q.session <= ether_type_i == EtherTypeSession;
      ether_q.image <= ether_type_i == EtherTypeImage;
      ether_q.image_confirm <= ether_type_i == EtherTypeImageConfirm;
      ether_q.input_ <= ether_type_i == EtherTypeInput;
      ether_q.input_confirm <= ether_type_i == EtherTypeInputConfirm;
      ether_q.exec <= ether_type_i == EtherTypeExec;
      ether_q.result <= ether_type_i == EtherTypeResult;
    end
  end

  // Kinds are numbered from 1 on; up to which one, in four bits.
  logic low;
  logic [3:0] kind;
  assign low = kind_i[7:4] == 0 && kind_i[3:0] != 0;
  assign kind = kind_i[3:0];

  always_ff @(posedge clk_net_i) begin
    class_o.ether <= ether_q != 0;
    class_o.known <= low && (
        ((ether_q.discovery || ether_q.input_confirm) && kind <= 4'd3) ||
        (ether_q.session && kind <= 4'd11) ||
        ((ether_q.image || ether_q.exec) && kind <= 4'd5) ||
        (ether_q.image_confirm && kind <= 4'd6) ||
        (ether_q.input_ && kind <= 4'd2) ||
        (ether_q.result && kind <= 4'd4));
    // What follows holds for known kinds.
    class_o.unicast <= ether_q.input_ ||
        (ether_q.session && kind inside {4'(KindSessionClaim), 4'(KindSessionRelease), 4'(KindSessionPing),
                                         4'(KindSessionCountersGet), 4'(KindSessionManifestGet)}) ||
        (ether_q.image && kind == 4'(KindImageBegin)) ||
        (ether_q.exec && kind != 4'(KindExecGo));
    class_o.group <= ether_q.image_confirm && kind == 4'(KindImageConfirmMissing);
    class_o.any <= (ether_q.discovery && kind == 4'(KindDiscoverySolicit)) ||
        (ether_q.image && kind != 4'(KindImageBegin)) ||
        (ether_q.exec && kind == 4'(KindExecGo));
    class_o.claims <= ether_q.input_ || ether_q.exec;
    class_o.write <= ether_q.input_ && kind == 4'(KindInputWrite);
    class_o.read <= ether_q.input_ && kind == 4'(KindInputRead);
    class_o.data <= ether_q.image && kind == 4'(KindImageData);
    class_o.launch <= ether_q.exec && kind == 4'(KindExecLaunch);
  end
endmodule
