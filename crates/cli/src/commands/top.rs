//! `rackloom top`: boards, tenants and queues of managers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::args::Top;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain as _, Failure, Result};
use crate::interrupt;
use crate::top::{Left, Screen, TopReport, Watch};
use crate::ui::Amount;

/// How often a pause checks whether it should end.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn run(cx: &Context, args: &Top) -> Result<Exit> {
    let mut watch = Watch::new(args.managers.clone(), args.interval);
    let first = watch.look();
    if first.is_all_lost() {
        return Err(no_metrics(&first));
    }
    if cx.ui.is_screen() && !args.snapshot {
        return live(args, watch, first);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    interrupt::instead(move || stopped.store(true, Ordering::Release));
    // Without a screen a script wants one table; as JSON, updates may go on.
    let once = args.snapshot || !cx.global.json;
    loop {
        if pause(cx, args.interval, once, &stop) {
            return Ok(Exit::Interrupted);
        }
        let report = watch.look();
        if once && report.is_all_lost() {
            return Err(no_metrics(&report));
        }
        cx.ui.result(&report, || report.text());
        if once {
            return Ok(if report.is_any_lost() { Exit::Partial } else { Exit::Ok });
        }
    }
}

/// Waits for an interval; true if it was interrupted.
fn pause(cx: &Context, interval: Duration, with_progress: bool, stop: &AtomicBool) -> bool {
    let ticks = |time: Duration| time.as_millis() as u64 / TICK.as_millis() as u64;
    let progress = with_progress.then(|| cx.ui.progress("measuring", ticks(interval), Amount::Steps));
    let start = Instant::now();
    while start.elapsed() < interval && !stop.load(Ordering::Acquire) {
        std::thread::sleep(TICK.min(interval.saturating_sub(start.elapsed())));
        if let Some(progress) = &progress {
            progress.set(ticks(start.elapsed()).min(ticks(interval)), "");
        }
    }
    if let Some(progress) = &progress {
        progress.finish();
    }
    stop.load(Ordering::Acquire)
}

/// Draws on the screen until a key or a signal ends it. A thread of its own queries the managers, so that keys work
/// meanwhile.
fn live(args: &Top, mut watch: Watch, first: TopReport) -> Result<Exit> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let mut screen = Screen::open()
        .during("cannot draw on this terminal")
        .map_err(|failure| failure.help("`rackloom top --snapshot` prints one table instead"))?;
    interrupt::instead(move || {
        stopped.store(true, Ordering::Release);
        // A second interrupt ends the program at once, and restores the terminal as well.
        interrupt::instead(|| {
            Screen::give_back();
            std::process::exit(Exit::Interrupted as i32);
        });
    });
    let (send, reports) = channel();
    let (ended, end) = channel::<()>();
    let interval = args.interval;
    let look = move || {
        let mut report = first;
        while send.send(report).is_ok() {
            // Woken by the end of the view.
            if !matches!(end.recv_timeout(interval), Err(RecvTimeoutError::Timeout)) {
                return;
            }
            report = watch.look();
        }
    };
    let looking = std::thread::Builder::new().name("look".into()).spawn(look).during("cannot start a thread")?;
    let left = screen.show(&reports, || stop.load(Ordering::Acquire));
    drop(screen);
    drop(ended);
    drop(looking); // Not joined: it may be waiting for a manager that does not answer.
    match left.during("cannot draw on the terminal")? {
        Left::Quit => Ok(Exit::Ok),
        Left::Interrupted => Ok(Exit::Interrupted),
    }
}

/// The error if no manager answers: most likely none serves metrics, or not there.
fn no_metrics(report: &TopReport) -> Failure {
    let (address, why) = report.first_loss().expect("at least one manager was asked");
    let failure = Failure::new(format!("no metrics from {address}")).help(format!(
        "start a manager that serves them, `rackloom manager --metrics {address}`, or name another: \
         `rackloom top ADDRESS:PORT`"
    ));
    Failure { causes: vec![why.to_owned()], ..failure }
}
