//! Connecting to a manager: a session for each of its boards.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use rackloom_ipc::{ChannelError, ClientConfig, Closed, Endpoint, TlsError};
use rackloom_opencl_wire::{self as wire, Answer, VERSION, now_ns};

use crate::config::{Config, complain, log};
use crate::error::{Result, fail};
use crate::session::board::Board;
use crate::session::completion::Transport;
use crate::session::{LossReport, Session, log_unexpected};
use crate::stats;

/// Time for a manager to answer the questions of a new session.
const GREETING: Duration = Duration::from_secs(10);

/// Time for a manager to open a board: as many programs as it serves may have started at the same time, and each gets a
/// process.
const OPENING: Duration = Duration::from_secs(60);

/// How long a manager that has no place for one more greeting is asked again.
const CROWDED: Duration = Duration::from_secs(10);

/// Until it is asked again, at first; each time it takes longer.
const PAUSE: Duration = Duration::from_millis(20);

/// Questions about a distant clock; the fastest answer counts.
const CLOCK_ROUNDS: usize = 8;

/// Connects to a manager, once for each of its boards. A board that cannot be opened is logged and left out.
///
/// # Errors
/// Why the manager cannot be used, for a person.
pub fn connect(
    endpoint: &Endpoint,
    config: &Config,
    report_loss: LossReport,
) -> std::result::Result<Vec<Arc<Board>>, String> {
    let Config { token, authorities, insecure, .. } = config.clone();
    let config = ClientConfig { token, authorities, insecure, ..ClientConfig::default() };
    let mut boards = Vec::new();
    for number in 0.. {
        let session = dial(endpoint, &config, report_loss).map_err(|e| explain(endpoint, &e))?;
        let (board, count) =
            open(&session, number).map_err(|e| format!("cannot start the session of board {number}: {e}"))?;
        boards.extend(board);
        if number + 1 >= count {
            break;
        }
    }
    stats::print_at_exit();
    log(|| format!("{endpoint}: {} boards", boards.len()));
    Ok(boards)
}

/// Connects, and again while the manager is crowded: of many programs that start at the same time it displaces some
/// before it has read their greetings.
fn dial(
    endpoint: &Endpoint,
    config: &ClientConfig,
    report_loss: LossReport,
) -> std::result::Result<Arc<Session>, ChannelError> {
    let (start, mut pause) = (Instant::now(), PAUSE);
    loop {
        let is_crowded = |why: &ChannelError| match why {
            ChannelError::Closed(Closed::PeerGone) => true,
            ChannelError::Io { source, .. } => {
                matches!(source.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
            }
            _ => false,
        };
        match Session::dial(endpoint, config, report_loss) {
            Err(why) if is_crowded(&why) && start.elapsed() + pause < CROWDED => {
                // Not all of them at the same time again.
                std::thread::sleep(pause + Duration::from_millis(u64::from(std::process::id() % 32)));
                pause *= 2;
            }
            other => return other,
        }
    }
}

/// Makes a session that of a board. Gives the board, if it could be opened, and the manager's number of boards.
fn open(session: &Arc<Session>, number: u16) -> Result<(Option<Arc<Board>>, u16)> {
    let deadline = Some(Instant::now() + GREETING);
    let name = program_name();
    let hello = |request| wire::Command::Hello { request, version: VERSION, name: &name };
    let (boards, limits, software) = match session.ask(deadline, &[], hello)? {
        Answer::Welcome { boards, limits, software } => (boards, limits, software),
        other => return unexpected("Welcome", &other),
    };
    log(|| format!("the manager is {software}; {limits:?}"));
    let _ = session.limits.set(limits);
    if number >= boards {
        return Ok((None, boards));
    }
    let ask = |request| wire::Command::Board { request, board: number };
    let info = match session.ask(deadline, &[], ask)? {
        Answer::Board(info) => info,
        other => return unexpected("Board", &other),
    };
    let opened = Some(Instant::now() + OPENING);
    if let Err(why) = session.ask(opened, &[], |request| wire::Command::Open { request, board: number }) {
        session.hear_out();
        // Another tenant may have it alone, or it is gone; the manager's other boards can be used all the same.
        let late = opened.is_some_and(|at| at <= Instant::now());
        let why = if late { format!("no answer within {} s", OPENING.as_secs()) } else { why.to_string() };
        log(|| format!("cannot open board {number} ({}): {why}", info.name));
        return Ok((None, boards));
    }
    if session.transport == Transport::Tcp {
        compare_clocks(session, Some(Instant::now() + GREETING))?;
    }
    Ok((Some(Arc::new(Board::new(Arc::clone(session), info))), boards))
}

fn compare_clocks(session: &Session, deadline: Option<Instant>) -> Result<()> {
    let mut best = u64::MAX;
    for _ in 0..CLOCK_ROUNDS {
        let before = now_ns();
        let there = match session.ask(deadline, &[], |request| wire::Command::Clock { request })? {
            Answer::Clock(there) => there,
            other => return unexpected("Clock", &other),
        };
        let took = now_ns() - before;
        if took < best {
            best = took;
            let here = before + took / 2;
            session.clock.store(here.wrapping_sub(there).cast_signed(), Ordering::Release);
        }
    }
    Ok(())
}

fn unexpected<T>(expected: &str, came: &Answer) -> Result<T> {
    log_unexpected(expected, came);
    fail(CL_DEVICE_NOT_AVAILABLE)
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Why there is no connection, and what to do about it. A refusal for the sake of security is said to the user, too.
fn explain(endpoint: &Endpoint, error: &ChannelError) -> String {
    let remedy = match error {
        ChannelError::Exposed => {
            "let the manager listen with tls:, and name it so; or allow this with RACKLOOM_INSECURE=1"
        }
        ChannelError::Tls(TlsError::NoTrust) => {
            "add #sha256:DIGEST to the endpoint, as the manager prints it, or set RACKLOOM_TLS_CA to a file of \
             authorities in PEM"
        }
        ChannelError::Tls(TlsError::NotTls) => "let the manager listen with tls:, or ask for the right port",
        ChannelError::Tls(TlsError::OtherKey { .. }) => {
            "if the manager has a new key, take the endpoint that it prints; else somebody is in between"
        }
        ChannelError::Tls(_) => "see that RACKLOOM_TLS_CA vouches for this manager's certificate and name",
        _ => return describe(error),
    };
    let text = format!("{}; {remedy}", describe(error));
    complain(&format!("{endpoint}: {text}"));
    text
}

fn describe(error: &ChannelError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
