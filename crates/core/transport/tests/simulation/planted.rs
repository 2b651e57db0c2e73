//! Each planted bug is caught, or the silence of the other tests proves nothing.

use std::panic::catch_unwind;

use rackloom_transport::PlantedBug;

use crate::peers;
use crate::plan::Plan;
use crate::world::run;

/// True when the oracle objects to this bug or an invariant fails.
fn is_caught(bug: PlantedBug, seed: u64) -> bool {
    catch_unwind(|| run(&Plan::draw(seed), Some(bug))).is_ok_and(|result| result.is_ok()).eq(&false)
}

#[test]
fn planted_bugs_are_caught() {
    for bug in PlantedBug::ALL {
        if bug == PlantedBug::EvictEstablished {
            let mut table = peers::table();
            table.plant(bug);
            assert!(catch_unwind(move || peers::crowd(&mut table)).is_ok_and(|r| r.is_ok()).eq(&false), "{bug:?}");
            continue;
        }
        let found = (1..=100).find(|seed| is_caught(bug, *seed));
        println!("{bug:?}: seed {found:?}");
        assert!(found.is_some(), "{bug:?} was not caught in 100 seeds");
    }
}
