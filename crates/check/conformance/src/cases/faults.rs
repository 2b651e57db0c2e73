//! Memory that answers with errors: the card says so by name, says nothing else of what it touched, and serves on.

use rackloom_card::Config;
use rackloom_wire::{self as wire, Announce, AnnounceReason, CardState, IntoBytes, Kind, U32, U64};

use crate::Specimen;
use crate::bench::{BASE, Bench, HOST, Out, config};
use crate::images::kernel::BUMP;

const BOOT: u32 = 77;
/// A beat that is broken in these tests.
const BROKEN: u64 = BASE + 4096;
/// As long as a card may take to start again. The time of gateware stands still while it computes.
const CALLS: usize = 500;

/// Waits until the card has started again and has said why; what else it said meanwhile is left on the bench.
fn fails<S: Specimen>(bench: &mut Bench<S>, boot: u32) {
    for _ in 0..CALLS {
        bench.pass_ms(1);
        let told = bench.sent.iter().position(|s| {
            s.head.kind == Kind::DiscoveryAnnounce
                && s.body::<Announce>().reason == u8::from(AnnounceReason::MemoryFailed)
        });
        if let Some(at) = told {
            let facts: Announce = bench.sent.remove(at).expect("it was found").body();
            assert_eq!((facts.boot.get(), facts.state), (boot, u8::from(CardState::Empty)));
            assert!(facts.owner.is_zero(), "the claim is gone");
            return;
        }
    }
    panic!("it has not told: {:?}", bench.sent);
}

fn claimed<S: Specimen>() -> Bench<S> {
    Bench::claimed_with(Config { boot: BOOT, ..config() })
}

/// Nothing is acknowledged that is not in memory; afterwards the card is as good as its memory.
pub fn a_write_that_fails_is_not_acknowledged<S: Specimen>() {
    let mut bench = claimed::<S>();
    bench.write(1, BASE, &[1; 64]);
    bench.pass_ms(1);
    bench.expect(Kind::InputConfirmWriteAck);
    bench.clear();
    bench.card.ddr().fail(Some(BROKEN));
    // The second write's last beat is good.
    bench.write(2, BROKEN - 8, &[2; 144]);
    bench.write(3, BASE + 64, &[3; 64]);
    fails(&mut bench, BOOT + 1);
    assert!(bench.take_all(Kind::InputConfirmWriteAck).is_empty());

    bench.claim(HOST, 2);
    bench.clear();
    bench.write(1, BASE + 64, &[4; 64]);
    bench.read(1, BASE, 128);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [[1; 64], [4; 64]].concat());
    assert_eq!(bench.last(Kind::InputConfirmWriteAck).head.seq, 2);
}

/// No byte is sent of a beat that fails, nor of what was asked for behind it.
pub fn a_read_that_fails_is_not_answered<S: Specimen>() {
    let mut bench = claimed::<S>();
    bench.card.ddr().fail(Some(BROKEN));
    bench.read(1, BROKEN - 100, 200);
    bench.read(2, BASE, 64);
    fails(&mut bench, BOOT + 1);
    assert!(bench.take_all(Kind::InputConfirmReadData).is_empty());
    // It fails as often as it is touched.
    bench.claim(HOST, 2);
    bench.clear();
    bench.read(1, BROKEN, 1);
    fails(&mut bench, BOOT + 2);
    bench.expect_nothing();
}

/// Of an output that cannot be read nothing wrong is sent.
pub fn an_output_that_fails_is_not_sent<S: Specimen>() {
    const CHUNK: u64 = 1472;
    let mut bench = Bench::<S>::with_role_and(Config { boot: BOOT, ..config() });
    // In its third chunk.
    bench.card.ddr().fail(Some(BASE + 2 * CHUNK + 700));
    let out = Out { addr: BASE, length: 4 * CHUNK, credit: 4, ..Out::default() };
    bench.launch_with(1, BUMP, &[BASE + (1 << 19), 10], out);
    fails(&mut bench, BOOT + 1);
    assert!(bench.take_all(Kind::ResultData).iter().all(|data| data.head.addr < 2 * CHUNK));
    // And it runs what comes next.
    bench.claim(HOST, 2);
    bench.load(1, &crate::images::probe(1, 0));
    bench.clear();
    bench.launch(1, BUMP, &[BASE + (1 << 19), 10]);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ResultDone).code(), wire::ErrorCode::Ok);
}

/// Who asks for zeroed memory does not get a card that could not zero it.
pub fn memory_that_cannot_be_zeroed_is_not_granted<S: Specimen>() {
    let mut bench = Bench::<S>::new(Config { boot: BOOT, ..config() });
    bench.clear();
    bench.card.ddr().fail(Some(BROKEN));
    let body = wire::Claim { nonce: U64::new(1), lease_ms: U32::new(5000), group: 0.into(), scrub: 1, beats: 0 };
    let head = wire::Head { epoch: 0, ..bench.head(Kind::SessionClaim, 5, 0) };
    bench.frame(head.frame(&[body.as_bytes()]));
    fails(&mut bench, BOOT + 1);
    bench.expect_nothing();
}
