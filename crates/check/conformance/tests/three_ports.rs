//! The suite, on the card model with three ports.

use rackloom_card::Card;
use rackloom_conformance::ThreePorts;

rackloom_conformance::suite!(ThreePorts<Card>);
