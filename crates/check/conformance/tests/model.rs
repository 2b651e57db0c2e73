//! The suite, on the card model.

use rackloom_card::Card;

rackloom_conformance::suite!(Card);
