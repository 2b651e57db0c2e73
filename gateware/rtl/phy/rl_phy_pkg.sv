// What is known of the link behind a PHY.
package rl_phy_pkg;
  typedef enum logic [1:0] {
    Speed10,
    Speed100,
    Speed1000
  } phy_speed_e;

  typedef struct packed {
    logic       answers;  // The PHY does, over its management bus,
    logic       known;    // and is the one that it should be. The rest is 0 when it is not.
    logic       up;       // There is a link that can be used.
    logic       half;     // There is one, but both ends must not speak at once: it cannot.
    phy_speed_e speed;    // Of the last link.
  } phy_link_t;
endpackage : rl_phy_pkg
