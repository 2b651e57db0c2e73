//! The suite, on the Verilated gateware with three ports and clocks that go their own ways. `make clocks` runs it for
//! each set of clocks.

use rackloom_conformance::{Strained, ThreePorts};

rackloom_conformance::suite!(cards of ThreePorts<Strained>);
