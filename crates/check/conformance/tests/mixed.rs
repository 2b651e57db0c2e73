//! The suite's racks, with cards of both kinds in one.

use rackloom_conformance::rack::Mixed;

rackloom_conformance::suite!(racks of Mixed);
