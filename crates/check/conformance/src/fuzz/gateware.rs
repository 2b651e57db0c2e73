//! The model beside the gateware.

use rackloom_card::{Card, Config, Pace};
use rackloom_verilated::{DdrTiming, RtlCard, Stress, Width};
use rackloom_wire::CardKind;

use super::{Delivery, Pair, Side, config, seed_of_epoch};
use crate::{CLOCKS, Specimen};

/// A card of gateware and a model card that grants the same epochs. The seed also chooses what the gateware's
/// surroundings do to it. `planted`: number of the bug to suffer from, 0 for none.
pub fn model_and_gateware(seed: u64, width: Width, planted: u8) -> Pair<Card, RtlCard> {
    let epoch = Side::new(gateware(seed, width, planted), Delivery::Together).first_epoch();
    let model = Card::plug(Config { seed: seed_of_epoch(epoch), ..config() });
    // One of four seeds hands frames one by one, so that what waits in queues is not all that is ever tested.
    let delivery = if seed % 4 == 3 { Delivery::OneByOne } else { Delivery::Together };
    let gateware = Side::new(gateware(seed, width, planted), delivery);
    Pair::new(Side::new(model, Delivery::OneByOne), gateware, seed)
}

fn gateware(seed: u64, width: Width, planted: u8) -> RtlCard {
    let card = Config { seed, pace: Pace::Live, kind: CardKind::Rtl, ..config() };
    let clocks = CLOCKS[(seed / 3) as usize % CLOCKS.len()];
    let (ddr, stress) = match seed % 3 {
        0 => (DdrTiming::default(), Stress::default()),
        1 => (
            DdrTiming { latency: 3, turnaround: 0, stalls: 0, mixes: true },
            Stress { rx_gaps: 40, tx_stalls: 100, late: true, clocks },
        ),
        _ => (
            DdrTiming { latency: 60, turnaround: 7, stalls: 100, mixes: true },
            Stress { rx_gaps: 0, tx_stalls: 20, late: true, clocks },
        ),
    };
    let surroundings = rackloom_verilated::Config::new(card.mac, card.pace);
    RtlCard::new(rackloom_verilated::Config { card, width, ddr, stress, planted, ..surroundings })
        .expect("a sound configuration")
}
