//! One program that runs, and what it has begun.

use rackloom_node::{Duration, Instant, Port};

use crate::message::{Key, may_go};
use crate::program::{COMMAND_BYTES, Command};
use crate::report::{Cause, Report};

/// A program to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Where its commands lie.
    pub program: u64,
    /// How many there are, at most [`COMMANDS_MAX`](crate::COMMANDS_MAX).
    pub commands: u64,
    /// It fails if it is not done by then.
    pub limit: Duration,
    /// The group that the operation is of.
    pub group: u64,
    /// Number of the operation in the group: each has another.
    pub sequence: u32,
}

/// A program that runs.
#[derive(Debug)]
pub(crate) struct Context {
    /// The caller's number for it.
    pub(crate) id: u64,
    pub(crate) start: Start,
    pub(crate) until: Instant,
    /// The command that is next, or under way.
    pub(crate) at: u64,
    /// Bytes of it that are done, of a copy or a reduction.
    pub(crate) done: u64,
    /// When the survey under way ends.
    pub(crate) survey: Option<Instant>,
    /// In the order in which they were begun, in which those of a link go.
    pub(crate) puts: Vec<Put>,
    pub(crate) takes: Vec<Take>,
    /// The links that it has used, whose cards learn of its failure.
    pub(crate) used: u64,
    /// The links whose cards have begun a new life since it was expected: what it may still owe or want there will not
    /// come.
    pub(crate) anew: u64,
    pub(crate) fault: Option<(Cause, Port)>,
    /// Something has changed that lets it go on, maybe.
    pub(crate) is_ready: bool,
}

/// A message that is being sent.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) link: Port,
    pub(crate) key: Key,
    pub(crate) addr: u64,
    pub(crate) length: u32,
    /// The bytes may go.
    pub(crate) may_go: bool,
    pub(crate) sent: u32,
    /// Its last bytes, or the one frame of a message without any, are on their way.
    pub(crate) is_sent: bool,
}

/// A message that has to come.
#[derive(Debug)]
pub(crate) struct Take {
    pub(crate) link: Port,
    pub(crate) key: Key,
    pub(crate) addr: u64,
    pub(crate) length: u32,
    pub(crate) come: u32,
}

impl Context {
    pub(crate) fn new(now: Instant, id: u64, start: Start, anew: u64) -> Self {
        Self {
            id,
            start,
            until: now + start.limit,
            at: 0,
            done: 0,
            survey: None,
            puts: Vec::new(),
            takes: Vec::new(),
            used: 0,
            anew,
            fault: None,
            is_ready: true,
        }
    }

    /// Where the next command lies; `None`: there are no more.
    pub(crate) const fn next(&self) -> Option<u64> {
        if self.at < self.start.commands { Some(self.start.program + self.at * COMMAND_BYTES) } else { None }
    }

    pub(crate) const fn key(&self, tag: u16) -> Key {
        Key { group: self.start.group, sequence: self.start.sequence, tag }
    }

    /// Whether what it has begun is done.
    pub(crate) fn is_quiet(&self) -> bool {
        self.puts.is_empty() && self.takes.is_empty()
    }

    /// Whether it waits for the card at the other end of this link.
    pub(crate) fn awaits(&self, link: Port) -> bool {
        self.puts.iter().any(|p| p.link == link) || self.takes.iter().any(|t| t.link == link)
    }

    /// Lets it fail, unless it has already.
    pub(crate) fn fail(&mut self, cause: Cause, link: Port) {
        self.fault.get_or_insert((cause, link));
        self.is_ready = true;
    }

    /// Whether a message has to wait for those that are under way: a link takes one at a time each way, and to send two
    /// if neither has bytes.
    pub(crate) fn is_busy(&self, command: &Command) -> bool {
        match command {
            Command::Put { link, length, .. } => {
                !may_go(*length, self.puts.iter().filter(|p| p.link == *link).map(|p| p.length))
            }
            Command::Take { link, .. } => self.takes.iter().any(|t| t.link == *link),
            _ => false,
        }
    }

    /// How it stands, or has ended.
    pub(crate) fn report(&self) -> Report {
        let set = |ports: &mut dyn Iterator<Item = Port>| ports.fold(0, |set, port| set | 1 << port);
        let (cause, link) = self.fault.map_or((None, 0), |(cause, link)| (Some(cause), link));
        let about = |port: Port| link == 0 || port == link;
        let take = self.takes.iter().find(|t| about(t.link)).map(|t| (t.come, t.length));
        let put = || self.puts.iter().find(|p| about(p.link)).map(|p| (p.sent, p.length));
        let (moved, total) = take.or_else(put).unwrap_or_default();
        Report {
            cause,
            link,
            command: u32::try_from(self.at).expect("at most COMMANDS_MAX"),
            takes: set(&mut self.takes.iter().map(|t| t.link)),
            puts: set(&mut self.puts.iter().map(|p| p.link)),
            moved: moved.into(),
            total: total.into(),
        }
    }
}
