//! The suite, on the Verilated gateware with a datapath of 128 bits, three ports, and clocks that go their own ways.

use rackloom_conformance::{StrainedWide, ThreePorts};

rackloom_conformance::suite!(cards of ThreePorts<StrainedWide>);
