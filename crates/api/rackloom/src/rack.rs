//! A program's connection to a rack.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rackloom_bridge::Window;
use rackloom_host::{
    CardInfo, CardName, Commit, Config, Event, Forged, Host, Launch, LaunchReport, LoadPhase, LoadReport, OpError,
    OpId, Outcome, Work,
};
use rackloom_live::{Clock, CountersWatch, Driver, Net, Ports, Wire, random_u64};
use rackloom_node::Instant;
use rackloom_sign::Policy;
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD, MacAddr, Scrub};

use crate::Error;
use crate::batch::Batch;
use crate::desk::{DATA, Desks};
use crate::entropy::random_mac;
use crate::exchange::{ExchangeStart, ExchangeWork, RunningExchange};
use crate::exposure::needs_keys;
use crate::job::{JobReport, JobUpdate, RunOptions, RunningJob, SharedWork, Start};
use crate::options::RackOptions;
use crate::pending::{Completer, Pending};
use crate::runner::{LastWord, Runner, SharedWaiting};
use crate::search::{ANSWER_WINDOW, Search, Step};
use crate::watch::{EVENTS_MAX, Watch};

/// A connection to all cards of a segment. Methods may be called from any thread; dropping it releases all cards.
pub struct Rack {
    driver: Arc<Driver<Runner>>,
    mac: MacAddr,
    pub(crate) deadline: Duration,
    policy: Option<Policy>,
    /// The network, if this host may claim nothing on it.
    pub(crate) barred: Option<Net>,
    pub(crate) desks: Desks,
}

impl Rack {
    /// Attaches to a segment and starts a host there. On an interface it claims cards only with
    /// [`keys`](RackOptions::keys), or if [`insecure_open`](RackOptions::insecure_open) says so.
    ///
    /// # Errors
    /// The segment does not exist, or the operating system refuses.
    pub fn connect(net: &Net, options: RackOptions) -> Result<Self, Error> {
        let barred = options.keys.is_none() && needs_keys(net, options.insecure_open);
        let mut rack = Self::attach(net.attach()?, options)?;
        rack.barred = barred.then(|| net.clone());
        Ok(rack)
    }

    /// Starts a host on a wire, such as a port of an in-process switch.
    ///
    /// # Errors
    /// The operating system refuses a thread.
    pub fn attach(wire: impl Wire + 'static, options: RackOptions) -> Result<Self, Error> {
        Self::attach_with_ports(wire, Ports::new(), options)
    }

    /// Like [`attach`](Self::attach), with cables in other ports of the host than port 0, where `wire` is. Cards are
    /// found and used through port 0 alone: frames on other ports reach none of their services.
    ///
    /// # Errors
    /// The operating system refuses a thread.
    ///
    /// # Panics
    /// If `others` has a port 0.
    pub fn attach_with_ports(wire: impl Wire + 'static, others: Ports, options: RackOptions) -> Result<Self, Error> {
        let mac = match &options.keys {
            Some(keys) => {
                let [a, b, c, ..] = random_u64().to_be_bytes();
                keys.address([a, b, c])
            }
            None => options.mac.unwrap_or_else(random_mac),
        };
        let mut config = Config::live(mac, options.seed.unwrap_or_else(random_u64));
        config.bulk = match options.jumbo && wire.mtu() >= JUMBO_MTU {
            true => BULK_JUMBO,
            false => BULK_STANDARD,
        };
        config.tx_rate = options.tx_rate;
        config.keys = options.keys;
        config.policy = options.policy.clone();
        let waiting: SharedWaiting = Arc::new(Mutex::default());
        // The driver drops runner and sink when the wire fails.
        let last_word = LastWord(Arc::clone(&waiting));
        let sink = move |()| {
            let _ = &last_word;
        };
        let runner = Runner::new(Host::new(config), waiting);
        let driver = Driver::spawn_with_ports(runner, wire, others, Clock::start(), sink).map_err(Error::Thread)?;
        let desks = Desks::default();
        let (deadline, policy) = (options.deadline, options.policy);
        Ok(Self { driver: Arc::new(driver), mac, deadline, policy, barred: None, desks })
    }

    /// The host's own address.
    pub const fn mac(&self) -> MacAddr {
        self.mac
    }

    /// Whether this host's policy lets a card have an image. Each load asks this as well, before anything is sent.
    ///
    /// # Errors
    /// [`OpError::NotAllowed`]; with a policy also [`OpError::UnknownCard`] of a card that is not up.
    pub fn admits(&self, card: MacAddr, image: &[u8]) -> Result<(), Error> {
        let Some(policy) = &self.policy else { return Ok(()) };
        let known = self.cards()?.into_iter().find(|known| known.mac == card);
        let known = known.ok_or(OpError::UnknownCard { card: CardName { mac: card, unit: None } })?;
        let name = CardName { mac: card, unit: Some(known.unit) };
        let signature = rackloom_sign::signature_of(image);
        Ok(policy.admits(card, known.unit, &signature).map_err(|why| OpError::NotAllowed { card: name, why })?)
    }

    /// How the network has treated this connection's frames; lasts longer than the connection.
    pub fn wire_health(&self) -> WireHealth {
        WireHealth(self.driver.watch_counters())
    }

    /// Asks all cards to announce themselves and waits until no more do, at most for `wait`.
    ///
    /// While this process waits for a processor its time hardly counts, nor that of its cards: on an overloaded machine
    /// this takes longer than `wait`, ten times as long or more.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn discover(&self, wait: Duration) -> Result<Vec<CardInfo>, Error> {
        let watch = self.watch()?;
        let mut search = Search::new(self.driver.now(), wait);
        loop {
            match search.next() {
                Step::Ask => {
                    self.with(|runner, now| runner.host().solicit(now, ANSWER_WINDOW))?;
                    search.asked(!self.cards()?.is_empty());
                }
                Step::Wait(time) => {
                    let mut event = watch.next_within(time);
                    if event.is_none() {
                        // The host reads what has come on its own thread, which may be late where this one is not.
                        self.with(|_, _| ())?;
                        event = watch.next_within(Duration::ZERO);
                    }
                    search.serve(self.driver.now());
                    if let Some(Event::CardUp(_)) = event {
                        search.found();
                    }
                }
                Step::Over => return self.cards(),
            }
        }
    }

    /// The cards that are known to be up now.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn cards(&self) -> Result<Vec<CardInfo>, Error> {
        self.with(|runner, _| runner.host().cards().cloned().collect())
    }

    /// The addresses under which two cards answer: neither can be used until one is gone.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn shared_addresses(&self) -> Result<BTreeSet<MacAddr>, Error> {
        self.with(|runner, now| runner.host().shared_addresses(now).collect())
    }

    /// What was dropped because it cannot be from the card that it names. Of cards that this host has keys for.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn forged(&self) -> Result<Forged, Error> {
        self.with(|runner, _| runner.host().forged())
    }

    /// Events from now on.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn watch(&self) -> Result<Watch, Error> {
        let (sender, events) = sync_channel(EVENTS_MAX);
        self.with(move |runner, _| runner.add_watcher(sender))?;
        Ok(Watch(events))
    }

    /// Opens or closes window `number`, 0 to 15, of a claimed card: what a node of the bridge may do with the card's
    /// memory or streams. Windows end with the claim.
    pub fn set_window(&self, card: MacAddr, number: u16, window: Option<Window>) -> Pending<()> {
        self.one(
            move |host, now| host.set_window(now, card, number, window),
            |outcome| match outcome {
                Outcome::WindowSet => (),
                other => mismatch(&other),
            },
        )
    }

    /// Says where what the role of a claimed card sends on its stream goes: to a stream of another node, which has to
    /// have opened it, or nowhere. So roles stream to each other with no host in between. It ends with the claim.
    pub fn set_route(&self, card: MacAddr, stream: u16, to: Option<(MacAddr, u16)>) -> Pending<()> {
        self.one(
            move |host, now| host.set_route(now, card, stream, to),
            |outcome| match outcome {
                Outcome::RouteSet => (),
                other => mismatch(&other),
            },
        )
    }

    /// Releases cards.
    pub fn release(&self, cards: &[MacAddr], scrub: Scrub) -> Batch<()> {
        self.batch(
            cards,
            None,
            move |host, now, card| host.release(now, card, scrub),
            |outcome| match outcome {
                Outcome::Released => (),
                other => mismatch(&other),
            },
        )
    }

    /// Loads an image into claimed cards, all at once. `commit` says which of them activate it if not all have verified
    /// it. `progress` gets the phase, and of its chunks or cards those done and all; it runs on the thread that drives
    /// the host and must be quick.
    ///
    /// The report has a result for each card: the load itself succeeds even if cards have failed.
    pub fn load(
        &self,
        cards: &[MacAddr],
        image: Bytes,
        commit: Commit,
        progress: impl FnMut(LoadPhase, u32, u32) + Send + 'static,
    ) -> Pending<LoadReport> {
        let (completer, pending) = Pending::new();
        let (cards, deadline) = (cards.to_vec(), self.deadline);
        self.post(move |runner, now| {
            let op = runner.host().load(now, &cards, image, commit);
            runner.host().set_deadline(op, now + deadline);
            runner.on_progress(op, Box::new(progress));
            runner.when_over(
                op,
                waiter(completer, |outcome| match outcome {
                    Outcome::Loaded(report) => report,
                    other => mismatch(&other),
                }),
            );
        });
        pending.helped_by(&self.driver)
    }

    /// Writes bytes to a claimed card's memory.
    pub fn write(&self, card: MacAddr, addr: u64, data: Bytes) -> Pending<()> {
        if addr < DATA {
            self.desks.forget(&[card]);
        }
        self.one(
            move |host, now| host.write(now, card, addr, data),
            |outcome| match outcome {
                Outcome::Written => (),
                other => mismatch(&other),
            },
        )
    }

    /// Reads `len` bytes of a claimed card's memory.
    pub fn read(&self, card: MacAddr, addr: u64, len: u64) -> Pending<Bytes> {
        self.one(
            move |host, now| host.read(now, card, addr, len),
            |outcome| match outcome {
                Outcome::Data(data) => data,
                other => mismatch(&other),
            },
        )
    }

    /// Launches a kernel on a claimed card.
    pub fn launch(&self, card: MacAddr, launch: Launch) -> Pending<LaunchReport> {
        self.one(
            move |host, now| host.launch(now, card, launch),
            |outcome| match outcome {
                Outcome::Launched(report) => report,
                other => mismatch(&other),
            },
        )
    }

    /// Starts the launches held for this number, on all cards at once.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn go(&self, number: u32) -> Result<(), Error> {
        self.with(move |runner, now| runner.host().go(now, number))
    }

    /// Cards' counters, in the order of `Counter::NAMES`. Needs no claim.
    pub fn counters(&self, cards: &[MacAddr]) -> Batch<Vec<u64>> {
        self.batch(
            cards,
            None,
            |host, now, card| host.counters(now, card),
            |outcome| match outcome {
                Outcome::Counters(counters) => counters,
                other => mismatch(&other),
            },
        )
    }

    /// The manifests of cards' active images, JSON. Needs no claim.
    pub fn manifest(&self, cards: &[MacAddr]) -> Batch<Bytes> {
        self.batch(
            cards,
            None,
            |host, now, card| host.manifest(now, card),
            |outcome| match outcome {
                Outcome::Manifest(manifest) => manifest,
                other => mismatch(&other),
            },
        )
    }

    /// Spreads work over all cards, also over those that appear later, and returns the work with its outputs. Cards are
    /// claimed, loaded with `image` if they have another, and released at the end. `observe` runs on the thread that
    /// drives the host and must be quick.
    ///
    /// # Errors
    /// A kernel fails on every card, no card takes the image, or no card is left.
    pub fn run_job<W: Work + 'static>(
        &self,
        image: Bytes,
        work: W,
        options: RunOptions,
        observe: impl FnMut(&JobUpdate) + Send + 'static,
    ) -> Result<(W, JobReport), Error> {
        self.may_claim()?;
        self.desks.forget_all();
        let work = Arc::new(Mutex::new(work));
        let bytes = Arc::default();
        let shared = Box::new(SharedWork { work: Arc::clone(&work), bytes: Arc::clone(&bytes) });
        let (done, pending) = Pending::new();
        let start = Start { image, work: shared, bytes, options, observe: Box::new(observe), done };
        self.post(move |runner, now| {
            let job = RunningJob::start(now, runner.host(), start);
            runner.add_job(job);
        });
        let report = pending.helped_by(&self.driver).wait()?;
        // The job was dropped before its end was reported, and its share of the work with it.
        let work = Arc::into_inner(work).expect("the job is gone");
        Ok((rackloom_sync::into_inner(work), report))
    }

    /// Has these cards compute the work, and fetch from each other what they need: its matrices pass the host once.
    /// `image` is that of the role `exchange`. As many cards as the work takes are used, the first of these. Each is
    /// claimed, opens to the others what they read and nothing else, is loaded if it has another image, and released at
    /// the end, which closes what it has opened. Each counts as one tile. Of `options`, claim and deadline count.
    /// Returns the work with its outputs. `observe` is as for [`run_job`](Self::run_job).
    ///
    /// # Errors
    /// A card has no bridge, does not take the image, is lost, or cannot read another's memory: the error names it, and
    /// there is no result. Nothing is tried again.
    ///
    /// # Panics
    /// If there are fewer cards than the work takes.
    pub fn run_exchange(
        &self,
        image: Bytes,
        work: ExchangeWork,
        cards: &[MacAddr],
        options: RunOptions,
        observe: impl FnMut(&JobUpdate) + Send + 'static,
    ) -> Result<(ExchangeWork, JobReport), Error> {
        self.may_claim()?;
        self.desks.forget_all();
        let cards = cards[..work.cards()].to_vec();
        let shared = Arc::new(Mutex::new(work));
        let (done, pending) = Pending::new();
        let work = Arc::clone(&shared);
        let start = ExchangeStart { image, cards, work, options, observe: Box::new(observe), done };
        self.post(move |runner, now| {
            let exchange = RunningExchange::start(now, runner.host(), start);
            runner.add_job(exchange);
        });
        let report = pending.helped_by(&self.driver).wait()?;
        let work = Arc::into_inner(shared).expect("the exchange is gone");
        Ok((rackloom_sync::into_inner(work), report))
    }

    /// Cancels all jobs; each ends with [`Error::JobCancelled`] once its cards are released.
    pub fn cancel_jobs(&self) {
        self.post(Runner::cancel_jobs);
    }

    fn with<R: Send + 'static>(&self, f: impl FnOnce(&mut Runner, Instant) -> R + Send + 'static) -> Result<R, Error> {
        self.driver.with(f).map_err(|_| Error::Stopped)
    }

    /// A closure that cannot be posted is dropped, which completes its `Pending` with [`Error::Stopped`].
    fn post(&self, f: impl FnOnce(&mut Runner, Instant) + Send + 'static) {
        let _ = self.driver.post(f);
    }

    fn one<T: Send + 'static>(
        &self,
        begin: impl FnOnce(&mut Host, Instant) -> OpId + Send + 'static,
        convert: fn(Outcome) -> T,
    ) -> Pending<T> {
        let (completer, pending) = Pending::new();
        let deadline = self.deadline;
        self.post(move |runner, now| {
            let op = begin(runner.host(), now);
            runner.host().set_deadline(op, now + deadline);
            runner.when_over(op, waiter(completer, convert));
        });
        pending.helped_by(&self.driver)
    }

    /// The same on many cards. Without a deadline, the host's own for control operations applies.
    pub(crate) fn batch<T: Send + 'static>(
        &self,
        cards: &[MacAddr],
        deadline: Option<Duration>,
        mut begin: impl FnMut(&mut Host, Instant, MacAddr) -> OpId + Send + 'static,
        convert: fn(Outcome) -> T,
    ) -> Batch<T> {
        let (completers, pendings): (Vec<_>, Vec<_>) = cards.iter().map(|_| Pending::new()).unzip();
        let targets = cards.to_vec();
        self.post(move |runner, now| {
            for (card, completer) in targets.into_iter().zip(completers) {
                let op = begin(runner.host(), now, card);
                if let Some(deadline) = deadline {
                    runner.host().set_deadline(op, now + deadline);
                }
                runner.when_over(op, waiter(completer, convert));
            }
        });
        let pendings = pendings.into_iter().map(|pending: Pending<T>| pending.helped_by(&self.driver));
        Batch::new(cards.iter().copied().zip(pendings))
    }
}

/// What the network did to a connection's frames.
#[derive(Debug, Clone)]
pub struct WireHealth(CountersWatch);

impl WireHealth {
    /// Why frames did not leave, in words, if some did not though the interface says that it takes them.
    pub fn trouble(&self) -> Option<String> {
        self.0.counters().refused.in_words()
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        // A card that is not released stays claimed until its lease ends.
        let held = self.with(|runner, _| {
            let host = runner.host();
            host.cards().map(|c| c.mac).filter(|c| host.claim_epoch(*c).is_some()).collect::<BTreeSet<_>>()
        });
        if let Ok(held) = held
            && !held.is_empty()
        {
            let held: Vec<_> = held.into_iter().collect();
            let release = |host: &mut Host, now, card| host.release(now, card, Scrub::Keep);
            let _ = self.batch(&held, Some(FAREWELL), release, |_| ()).wait();
        }
    }
}

impl fmt::Debug for Rack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rack").field("mac", &self.mac).finish_non_exhaustive()
    }
}

fn waiter<T: Send + 'static>(
    completer: Completer<T>,
    convert: fn(Outcome) -> T,
) -> Box<dyn FnOnce(Result<Outcome, OpError>) + Send> {
    Box::new(move |result| completer.complete(result.map(convert).map_err(Error::Op)))
}

/// A bug of the host, which promises an outcome of the operation's kind.
pub(crate) fn mismatch(outcome: &Outcome) -> ! {
    unreachable!("the outcome of another kind of operation: {outcome:?}")
}

/// The MTU that jumbo frames need.
const JUMBO_MTU: usize = 9000;
/// How long releasing cards may take when a connection ends.
const FAREWELL: Duration = Duration::from_millis(500);
