//! The suite, on the Verilated gateware.

use rackloom_rtl::RtlCard;

rackloom_conformance::suite!(RtlCard);
