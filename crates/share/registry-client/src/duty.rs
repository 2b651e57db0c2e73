//! What an attendant does, call by call: one at a time, so that the registry hears everything in order.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tonic::{Code, Response, Status, Streaming};

use crate::access::{Access, AccessError, Client};
use crate::api::{
    DeviceSpec, HeartbeatRequest, ReconfigurationDecision, RegisterDeviceRequest, ReportReconfigurationRequest,
    TenantList, ValidateReconfigurationRequest, ValidateReconfigurationResponse, WatchTenantsRequest,
};
use crate::event::{Event, Handler};
use crate::verdict::{Unanswered, Verdict};

/// Longest that a call may take.
const CALL: Duration = Duration::from_secs(5);

/// Times between attempts, from the first to the last, each twice the one before.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Time between attempts while somebody waits for an answer.
const ASKED_PAUSE: Duration = Duration::from_millis(200);

/// Time before a watch that ended is opened again.
const WATCH_PAUSE: Duration = Duration::from_secs(1);

/// Bytes of a failure's text that the registry takes.
const FAILURE_MAX: usize = 1024;

/// What the manager has an attendant do.
pub(crate) enum Order {
    Found(String),
    Lost,
    Report(Report),
    Ask(Question),
}

/// How a reconfiguration ended.
pub(crate) struct Report {
    pub(crate) accelerator: String,
    /// Empty after success.
    pub(crate) failure: String,
}

/// Whether an accelerator may be loaded.
pub(crate) struct Question {
    pub(crate) instance: String,
    pub(crate) accelerator: String,
    /// When nobody waits for the answer any more.
    pub(crate) until: Instant,
    pub(crate) reply: SyncSender<Result<Verdict, Unanswered>>,
}

/// A lease and what was said under it.
struct Lease {
    id: u64,
    /// A heartbeat is to be sent this often.
    third: Duration,
    /// When the next is due.
    beat: Instant,
    /// What the registry takes for configured.
    told: String,
    /// Of the list that we have.
    revision: u64,
    watch: Option<Streaming<TenantList>>,
}

/// Why an attempt did not go well.
enum Trouble {
    /// Somebody has registered the board since, or the registry does not know it.
    Superseded,
    /// The registry does not answer, or refuses.
    Away(Code, String),
}

impl From<Status> for Trouble {
    fn from(status: Status) -> Self {
        match status.code() {
            Code::FailedPrecondition => Self::Superseded,
            code => Self::Away(code, describe(&status)),
        }
    }
}

impl From<AccessError> for Trouble {
    fn from(why: AccessError) -> Self {
        Self::Away(Code::Unknown, chain(&why))
    }
}

/// An attendant's work on one board.
pub(crate) struct Duty {
    access: Access,
    manager: String,
    /// With the accelerator that is configured now.
    board: DeviceSpec,
    /// Whether the board itself is there.
    is_there: bool,
    tell: Handler,
    orders: UnboundedReceiver<Order>,
    client: Option<Client>,
    lease: Option<Lease>,
    /// What the registry has still to hear.
    owed: Option<Report>,
    questions: VecDeque<Question>,
    /// When to do something by ourselves.
    due: Instant,
    /// How long to wait after the next failure.
    pause: Duration,
    /// What is known to fail.
    failing: Option<(Code, String)>,
}

impl Duty {
    pub(crate) fn new(
        access: Access,
        manager: String,
        board: DeviceSpec,
        tell: Handler,
        orders: UnboundedReceiver<Order>,
    ) -> Self {
        Self {
            access,
            manager,
            board,
            is_there: true,
            tell,
            orders,
            client: None,
            lease: None,
            owed: None,
            questions: VecDeque::new(),
            due: Instant::now(),
            pause: PAUSE.0,
            failing: None,
        }
    }

    /// Works until the attendant is dropped.
    pub(crate) async fn run(mut self) {
        loop {
            let watch = self.lease.as_mut().and_then(|lease| lease.watch.as_mut());
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.take(order),
                    None => return,
                },
                list = next(watch) => self.heard(list),
                () = tokio::time::sleep_until(self.due.into()) => {}
            }
            while let Ok(order) = self.orders.try_recv() {
                self.take(order);
            }
            if self.due <= Instant::now() {
                self.attempt().await;
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Found(accelerator) => {
                self.board.accelerator = accelerator;
                if !std::mem::replace(&mut self.is_there, true) {
                    self.lease.iter_mut().for_each(|lease| lease.beat = Instant::now());
                }
            }
            Order::Lost => {
                self.board.accelerator.clear();
                self.is_there = false;
            }
            Order::Report(report) => {
                self.board.accelerator.clone_from(&report.accelerator);
                self.owed = Some(report);
            }
            Order::Ask(question) => self.questions.push_back(question),
        }
        self.due = Instant::now();
    }

    /// A list has come by the watch, or it has ended.
    fn heard(&mut self, list: Result<Option<TenantList>, Status>) {
        let Some(lease) = &mut self.lease else { return };
        match list {
            Ok(Some(list)) => hold(lease, list, &self.tell),
            Ok(None) | Err(_) => {
                // It ends with the lease, or with the registry: the next heartbeat tells which.
                lease.watch = None;
                lease.beat = Instant::now();
                self.due = self.due.min(Instant::now() + WATCH_PAUSE);
            }
        }
    }

    /// Does all that there is to do, and plans the next time.
    async fn attempt(&mut self) {
        let was_registered = self.lease.is_some();
        match self.round().await {
            Ok(()) => {
                if self.failing.take().is_some() {
                    (self.tell)(Event::Back);
                }
                if was_registered {
                    self.pause = PAUSE.0; // Not before: two that take a board from each other do so ever more slowly.
                }
                self.due = match &self.lease {
                    Some(lease) if self.is_there => lease.beat,
                    Some(lease) => Instant::now() + lease.third, // To look after the watch.
                    None => Instant::now(),
                };
            }
            Err(trouble) => {
                self.client = None; // What does not answer may be a connection that nobody is at.
                match trouble {
                    Trouble::Superseded => self.lease = None,
                    Trouble::Away(code, why) => self.failed(code, why),
                }
                if let Some(lease) = &mut self.lease {
                    lease.watch = None;
                }
                self.due = Instant::now() + self.pause;
                self.pause = PAUSE.1.min(self.pause * 2);
            }
        }
        self.dismiss();
        if !self.questions.is_empty() {
            self.due = self.due.min(Instant::now() + ASKED_PAUSE);
        }
    }

    fn failed(&mut self, code: Code, why: String) {
        if self.failing.as_ref().is_none_or(|(before, _)| *before != code) {
            (self.tell)(Event::Failing(why.clone()));
        }
        self.failing = Some((code, why));
    }

    /// Answers the questions whose time is over.
    fn dismiss(&mut self) {
        let why = self.failing.as_ref().map_or("the registry does not answer", |(_, why)| why);
        let now = Instant::now();
        self.questions.retain(|question| {
            let waits = now < question.until;
            if !waits {
                let _ = question.reply.try_send(Err(Unanswered(why.to_owned())));
            }
            waits
        });
    }

    async fn round(&mut self) -> Result<(), Trouble> {
        let mut client = match &self.client {
            Some(client) => client.clone(),
            None => self.client.insert(self.access.client()?).clone(),
        };
        if self.lease.is_none() {
            self.register(&mut client).await?;
        }
        let Some(lease) = &mut self.lease else { return Ok(()) };
        if let Some(report) = &self.owed {
            let request = ReportReconfigurationRequest {
                id: self.board.id.clone(),
                lease: lease.id,
                accelerator: report.accelerator.clone(),
                error: shorten(&report.failure),
            };
            match timely(client.report_reconfiguration(request)).await {
                Ok(_) => lease.told.clone_from(&report.accelerator),
                Err(status) if is_final(status.code()) => {} // The heartbeat tells the accelerator.
                Err(status) => return Err(status.into()),
            }
            self.owed = None;
        }
        if (self.is_there && lease.beat <= Instant::now()) || lease.told != self.board.accelerator {
            beat(&mut client, &self.board, lease, &self.tell).await?;
        }
        while let Some(question) = self.questions.front() {
            if question.until <= Instant::now() {
                self.questions.pop_front();
                continue;
            }
            let request = ValidateReconfigurationRequest {
                id: self.board.id.clone(),
                lease: lease.id,
                instance: question.instance.clone(),
                accelerator: question.accelerator.clone(),
            };
            let answer = match timely(client.validate_reconfiguration(request)).await {
                Ok(verdict) => Ok(read(verdict)),
                Err(status) if is_final(status.code()) => Err(Unanswered(describe(&status))),
                Err(status) => return Err(status.into()),
            };
            let was_granted = matches!(answer, Ok(Verdict::Granted { .. }));
            let is_heard = question.reply.try_send(answer).is_ok();
            self.questions.pop_front();
            if was_granted && !is_heard {
                // Nobody will load it, and the board would be kept for that.
                let failure = "who asked did not wait for the answer".to_owned();
                self.owed = Some(Report { accelerator: self.board.accelerator.clone(), failure });
                lease.beat = Instant::now();
            }
        }
        if lease.watch.is_none() {
            let request = WatchTenantsRequest { id: self.board.id.clone(), lease: lease.id };
            // Without a watch heartbeats bring the list, a little later.
            lease.watch = timely(client.watch_tenants(request)).await.ok();
        }
        Ok(())
    }

    async fn register(&mut self, client: &mut Client) -> Result<(), Trouble> {
        let request = RegisterDeviceRequest { manager: self.manager.clone(), device: Some(self.board.clone()) };
        let answer = timely(client.register_device(request)).await.map_err(|status| {
            Trouble::Away(status.code(), describe(&status)) // Even if it says that something stands against it.
        })?;
        let third = third(answer.lease_ms);
        let told = self.board.accelerator.clone();
        let lease = Lease { id: answer.lease, third, beat: Instant::now() + third, told, revision: 0, watch: None };
        // Whatever the last lease's list was: a registry may have been set back to an older state.
        let lease = self.lease.insert(lease);
        // What was granted under the lease before ended with it, and what is configured was just said.
        self.owed = None;
        (self.tell)(Event::Registered);
        hold(lease, answer.tenants.unwrap_or_default(), &self.tell);
        Ok(())
    }
}

async fn beat(client: &mut Client, board: &DeviceSpec, lease: &mut Lease, tell: &Handler) -> Result<(), Trouble> {
    let request = HeartbeatRequest {
        id: board.id.clone(),
        lease: lease.id,
        accelerator: board.accelerator.clone(),
        tenants_revision: lease.revision,
    };
    let answer = timely(client.heartbeat(request)).await?;
    lease.third = third(answer.lease_ms);
    lease.beat = Instant::now() + lease.third;
    lease.told.clone_from(&board.accelerator);
    if let Some(list) = answer.tenants {
        hold(lease, list, tell);
    }
    Ok(())
}

/// How often to send heartbeats; not without a pause, whatever the registry says.
fn third(lease_ms: u32) -> Duration {
    PAUSE.0.max(Duration::from_millis(lease_ms.into()) / 3)
}

/// Takes a list, unless a newer one is held.
fn hold(lease: &mut Lease, list: TenantList, tell: &Handler) {
    if list.revision > lease.revision {
        lease.revision = list.revision;
        tell(Event::Tenants(list.tenants));
    }
}

/// The next list of a watch; never, without one.
async fn next(watch: Option<&mut Streaming<TenantList>>) -> Result<Option<TenantList>, Status> {
    match watch {
        Some(watch) => watch.message().await,
        None => std::future::pending().await,
    }
}

async fn timely<T>(call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Status> {
    match tokio::time::timeout(CALL, call).await {
        Ok(answer) => answer.map(Response::into_inner),
        Err(_) => Err(Status::deadline_exceeded(format!("the registry gave no answer in {} s", CALL.as_secs()))),
    }
}

/// Whether asking again would be answered in the same way.
fn is_final(code: Code) -> bool {
    matches!(code, Code::InvalidArgument | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented)
}

fn read(said: ValidateReconfigurationResponse) -> Verdict {
    match said.decision() {
        ReconfigurationDecision::Granted => {
            let good = (said.grant_ms > 0).then(|| Duration::from_millis(said.grant_ms.into()));
            Verdict::Granted { good }
        }
        ReconfigurationDecision::Unneeded => Verdict::Unneeded,
        ReconfigurationDecision::Wait => {
            let whereto = said.moves.iter().map(|plan| format!("{} to {}", plan.instance, plan.to));
            let whereto: Vec<_> = whereto.collect();
            let reason = format!("{} ({})", said.reason, whereto.join(", "));
            Verdict::Wait { retry: Duration::from_millis(said.retry_ms.into()), reason }
        }
        ReconfigurationDecision::Refused => Verdict::Refused(said.reason),
        ReconfigurationDecision::Unspecified => {
            Verdict::Refused("the registry gave a decision that this manager does not know".to_owned())
        }
    }
}

/// As much of a text as the registry takes.
fn shorten(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut bytes = 0;
    plain
        .take_while(|c| {
            bytes += c.len_utf8();
            bytes <= FAILURE_MAX
        })
        .collect()
}

/// A status for people: its text, and the causes below it.
fn describe(status: &Status) -> String {
    let said = [status.message().to_owned()].into_iter().filter(|said| !said.is_empty());
    let text = join(said.chain(causes(std::error::Error::source(status))));
    if text.is_empty() { format!("{:?}", status.code()) } else { text }
}

/// An error and its causes for people.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    join(causes(Some(error)))
}

fn causes<'a>(error: Option<&'a (dyn std::error::Error + 'static)>) -> impl Iterator<Item = String> + 'a {
    std::iter::successors(error, |error| error.source()).map(ToString::to_string)
}

/// Layers repeat what those below them say; each is said once.
fn join(said: impl Iterator<Item = String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for said in said.filter(|said| said != "transport error") {
        if !once.iter().any(|before| before.contains(&said)) {
            once.push(said);
        }
    }
    once.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_said_once() {
        let said = ["tcp connect error", "transport error", "tcp connect error", "Connection refused (os error 111)"];
        let said = join(said.iter().map(ToString::to_string));
        assert_eq!(said, "tcp connect error: Connection refused (os error 111)");
        assert_eq!(describe(&Status::not_found("no such thing")), "no such thing");
        assert_eq!(describe(&Status::not_found("")), "NotFound");
    }

    #[test]
    fn failures_fit_and_are_printable() {
        assert_eq!(shorten("a\nb"), "a b");
        assert_eq!(shorten(&"\u{e9}".repeat(600)).len(), FAILURE_MAX);
        assert_eq!(shorten(&("x".to_owned() + &"\u{e9}".repeat(600))).len(), FAILURE_MAX - 1);
    }

    #[test]
    fn decisions_are_read() {
        let said = |decision: ReconfigurationDecision| {
            let moves = vec![crate::api::PlannedMove { instance: "i".into(), from: "a".into(), to: "b".into() }];
            let reason = "r".to_owned();
            let decision = decision.into();
            read(ValidateReconfigurationResponse { decision, reason, retry_ms: 500, moves, grant_ms: 40 })
        };
        let good = Some(Duration::from_millis(40));
        assert_eq!(said(ReconfigurationDecision::Granted), Verdict::Granted { good });
        let silent = ReconfigurationDecision::Granted.into();
        let silent = ValidateReconfigurationResponse { decision: silent, ..Default::default() };
        assert_eq!(read(silent), Verdict::Granted { good: None });
        assert_eq!(said(ReconfigurationDecision::Unneeded), Verdict::Unneeded);
        assert_eq!(said(ReconfigurationDecision::Refused), Verdict::Refused("r".into()));
        let wait = Verdict::Wait { retry: Duration::from_millis(500), reason: "r (i to b)".into() };
        assert_eq!(said(ReconfigurationDecision::Wait), wait);
        assert!(
            matches!(said(ReconfigurationDecision::Unspecified), Verdict::Refused(_)),
            "what is unknown is no grant"
        );
    }
}
