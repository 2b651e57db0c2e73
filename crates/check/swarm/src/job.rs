//! A job under faults: cards crash, are pulled and come back while one piece of work goes on; nothing of it may be
//! lost, done twice in the result, or wrong.

use bytes::Bytes;
use rackloom_card::CardEvent;
use rackloom_host::{ClaimOptions, DownReason, Event, Job, JobEvent, JobOptions};
use rackloom_node::{Duration, Either};

use crate::hashes::Hashes;
use crate::images;
use crate::plan::Plan;
use crate::run::{Failure, caught};
use crate::world::World;

/// Tiles of the job.
const TILES: usize = 120;
/// Elements of a tile: 8 bytes each, several frames in each direction.
const ELEMENTS: usize = 700;
/// Faults go on for so long in virtual time, at most.
const TROUBLE: Duration = Duration::from_secs(20);
/// After they have stopped, the job ends within this time: a lost card is noticed within a second, its claim has run
/// out within five, senders stand still for up to five, and then the work is done.
const SETTLE: Duration = Duration::from_secs(30);

/// What a job did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobSummary {
    /// Cards that joined, counting each time.
    pub joined: u32,
    /// Cards that were lost.
    pub left: u32,
    /// Frames that a stranger has sent.
    pub attacks: u64,
    /// Hash of all that happened on the network.
    pub hash: u64,
}

/// Runs a job in the rack that the plan describes, with one host.
///
/// # Errors
/// If a tile is wrong, missing or given twice, or the job does not end.
pub fn run_job(plan: &Plan) -> Result<JobSummary, Box<Failure>> {
    // A job takes a wrong digest for what it mostly is, a bad image, and gives up when all cards say so.
    let plan = Plan { hosts: 1, mangled: 0.0, ..plan.clone() };
    caught(&plan, || go(&plan))
}

fn go(plan: &Plan) -> Result<JobSummary, String> {
    let mut world = World::new(plan, None);
    let mut summary = JobSummary::default();
    let image = rackloom_builtin_roles::image("burn").expect("it is built in");
    let image = if plan.signed { images::signed(image) } else { Bytes::from_static(image) };
    world.with_host(0, |h, now| h.solicit(now, Duration::from_micros(100)));
    let work = Box::new(Hashes::new(TILES, ELEMENTS));
    let options = JobOptions {
        claim: ClaimOptions { lease: Duration::from_secs(2), ..ClaimOptions::default() },
        ..JobOptions::default()
    };
    let mut job = world.with_host(0, |h, now| Job::start(now, h, image, work, options));
    let trouble = world.now() + TROUBLE;
    while !job.is_over() && world.now() < trouble {
        let pause = Duration::from_micros(world.rng.below(60_000));
        advance(&mut world, &mut job, pause, &mut summary)?;
        disturb(&mut world, plan);
    }
    for card in 0..plan.cards {
        if !world.is_on(card) {
            world.start_card(card);
        }
    }
    world.calm();
    let end = world.now() + SETTLE;
    while !job.is_over() && world.now() < end {
        advance(&mut world, &mut job, Duration::from_millis(20), &mut summary)?;
        // What a person would do whose cards are all there and not used.
        world.with_host(0, |h, now| h.solicit(now, Duration::from_micros(100)));
    }
    if job.left() > 0 {
        return Err(format!("{} of {TILES} tiles are not done, in {job:?}", job.left()));
    }
    summary.attacks = world.attacks();
    summary.hash = world.rack.net.event_hash().unwrap_or_default();
    Hashes::check(job.into_work())?;
    Ok(summary)
}

fn advance(world: &mut World, job: &mut Job, time: Duration, summary: &mut JobSummary) -> Result<(), String> {
    let end = world.now() + time;
    loop {
        let due = job.next_deadline().filter(|at| *at <= end);
        let Some((_, node, said)) = world.rack.run_until(due.unwrap_or(end)) else {
            if due.is_none() {
                return Ok(());
            }
            let told = world.with_host(0, |h, now| job.handle_timeout(now, h));
            note(told, summary)?;
            continue;
        };
        let event = match said {
            Either::A(event) => event,
            Either::B(CardEvent::Raised(release)) => {
                let card = world.rack.cards().iter().position(|slot| slot.node == node).expect("a card of the rack");
                world.keep(card, &release);
                continue;
            }
            Either::B(_) => continue,
        };
        let told = world.with_host(0, |h, now| job.handle(now, h, &event));
        note(told, summary)?;
        if let Event::CardDown { card, reason: DownReason::Silent } = event {
            world.check_silence(0, card)?;
        }
        if let Event::CardDown { .. } = event {
            world.with_host(0, |h, now| h.solicit(now, Duration::from_micros(100)));
        }
    }
}

fn note(told: Vec<JobEvent>, summary: &mut JobSummary) -> Result<(), String> {
    for told in told {
        match told {
            JobEvent::Joined(_) => summary.joined += 1,
            JobEvent::Left(..) => summary.left += 1,
            JobEvent::Failed(why) => return Err(format!("the job failed: {why}")),
            JobEvent::Found(..) | JobEvent::Tile { .. } | JobEvent::Finished => {}
        }
    }
    Ok(())
}

/// Cards lose power and get it back, cables are pulled and plugged in again, and somebody gets no processor.
fn disturb(world: &mut World, plan: &Plan) {
    world.starve();
    let card = world.rng.below(plan.cards as u64) as usize;
    let slot = world.card(card);
    if !world.is_on(card) {
        world.start_card(card);
    } else if !world.rack.net.is_up(slot.link) {
        world.rack.net.up(slot.link);
    } else if plan.crashes && world.rng.chance(0.1) {
        world.crash_card(card);
    } else if plan.pulls && world.rng.chance(0.1) {
        world.rack.net.down(slot.link);
    }
}
