// What frames hold in the benches of the transport: every word tells which frame of whom it is of.
package transport_words_pkg;
  // A word of a frame that end `from` gives for a peer; wider words repeat nothing, and have zeros above.
  function automatic logic [63:0] word_of(int unsigned from, logic [7:0] peer, logic [31:0] frame,
                                          logic [7:0] at);
    logic [31:0] mixed;
    mixed = (frame * 32'h9e37_79b1) ^ ({16'(peer), 8'd0, at} * 32'h85eb_ca77) ^ from;
    return {frame[15:0], at, peer, mixed};
  endfunction
endpackage
