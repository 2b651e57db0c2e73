//! Runs a study:
//! `cargo run --release -p rackloom-study-saf --example study -- saf-cost [--quick] [--json] [--svg FILE]`.

use std::process::ExitCode;
use std::time::Instant;

use rackloom_study_saf::{Progress, Settings, run};

struct Lines;

impl Progress for Lines {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        eprintln!("[{done}/{total}] {what}");
    }
}

fn main() -> ExitCode {
    let (mut name, mut json, mut svg) = (None, false, None);
    let mut settings = Settings { quick: false, seed: 1, cards: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = true,
            "--quick" => settings.quick = true,
            "--seed" => settings.seed = args.next().and_then(|s| s.parse().ok()).expect("--seed takes a number"),
            "--svg" => svg = args.next(),
            _ => name = Some(arg),
        }
    }
    let start = Instant::now();
    let report = match run(name.as_deref().unwrap_or_default(), settings, &mut Lines) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    eprintln!("took {:.1} s", start.elapsed().as_secs_f64());
    if let Some(file) = svg {
        std::fs::write(&file, report.svg()).expect("the file is writable");
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&report.json()).expect("it is JSON"));
    } else {
        print!("{report}");
    }
    ExitCode::from(u8::from(report.claims().iter().any(|c| !c.holds)))
}
