//! The suite, on the Verilated gateware.

use rackloom_verilated::RtlCard;

rackloom_conformance::suite!(RtlCard);
