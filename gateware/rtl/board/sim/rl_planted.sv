// Bugs on purpose, off by default: the comparison with the model must find each, or its silence proves
// nothing. They are forced upon the shell from outside, so that it bears no trace of them:
// u_shell is that of the module around this one.
module rl_planted (
  input logic [7:0] planted_i  // Number of the bug, 0: none.
);
`ifndef SYNTHESIS
  always @(planted_i) begin
    case (planted_i)
      // Writes, reads and launches of the owner are taken whatever their epoch.
      8'd1:    force u_shell.u_analyzer.u_judge.epoch_q = 1'b1;
      // A read does not wait for the writes before it.
      8'd2:    force u_shell.u_mem_read.beyond = 8'd0;
      // A launch's output may lie anywhere.
      8'd3:    force u_shell.u_launch.u_judge.fits = 1'b1;
      // A write that begins or ends within eight bytes takes all eight.
      8'd4:    force u_shell.u_ddr_write.turn_strobe_q = 8'hff;
      // A chunk of an image is taken whatever its length.
      8'd5:    force u_shell.u_image_write.right = 1'b1;
      default: ;
    endcase
  end
`endif
endmodule : rl_planted
