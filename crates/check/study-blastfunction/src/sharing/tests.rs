//! The bench at work, with the programs, the library and managers that it measures.
//!
//! Bounds are loose but one: a paced board is never faster than its pace, whatever the machine does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rackloom_manager::scheduler::Policy;
use rackloom_report::{Silent, WIDTH};

use super::load::Function as _;
use super::paper::device_ms;
use super::usecase::Call;
use super::*;

/// The folder of the programs, which are built first.
fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let out = root.join("out/workloads");
        let targets = ["sobel", "matmul", "alexnet", "burst"].map(|name| format!("../out/workloads/bin/{name}"));
        let make = Command::new("make").arg("-sC").arg(root.join("workloads")).args(targets).output().unwrap();
        assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
        out.join("bin")
    })
}

fn options() -> Options {
    let programs = programs().to_owned();
    Options { seconds: 1, quick: true, policy: Policy::Fair, programs, library: None, runtime: None, device: 0 }
}

#[test]
fn a_native_function_enqueues_what_the_program_does() {
    let tools = Tools {
        programs: absolute(options().programs).unwrap(),
        library: absolute(find_library(None).unwrap()).unwrap(),
        folder: TempDir::new().unwrap(),
    };
    for of in UseCase::ALL {
        let mut stage = Stage::paced(of, Placement::Paper, &options(), &tools).unwrap();
        let place = Placement::Paper.places()[0];
        let counters = |stage: &Stage| {
            let text = stage.hosts()[place].metrics();
            ["rackloom_operations_total{", "direction=\"In\"} ", "direction=\"Out\"} "].map(|part| {
                let line = text.lines().find(|line| line.contains(part)).unwrap();
                line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
            })
        };
        let before = counters(&stage);
        stage.shared(0).request().unwrap();
        let after = counters(&stage);
        let (mut operations, mut to, mut from) = (0, 0, 0);
        for call in of.request().into_iter().flatten() {
            operations += 1;
            match call {
                Call::Write(len) => to += len as u64,
                Call::Read(len) => from += len as u64,
                Call::Launch(_) => {}
            }
        }
        let counted = [0, 1, 2].map(|i| after[i] - before[i]);
        assert_eq!(counted, [operations, to, from], "{of:?}");
    }
}

#[test]
fn a_report_has_all_that_is_measured() {
    let report = run(&options(), &mut Silent).unwrap();
    assert_eq!(report.on(Boards::Paced).count(), QUICK.len());
    let processor = usize::from(!installed().is_empty());
    assert_eq!(report.on(Boards::Processor).count(), processor);
    for configuration in &report.configurations {
        assert_eq!(configuration.shared.functions.len(), paper::SHARED);
        assert_eq!(configuration.native.functions.len(), paper::NATIVE);
    }
    for configuration in report.on(Boards::Paced) {
        for (shared, scenario) in [(true, &configuration.shared), (false, &configuration.native)] {
            for (number, row) in scenario.functions.iter().enumerate() {
                let place = if shared { configuration.placement.places()[number] } else { number };
                let ms = device_ms(configuration.use_case, place);
                assert!(row.answered > 0 && row.answered <= row.asked, "{row:?}");
                assert!(row.latency.p50_ms >= ms * 0.999, "faster than its board, {ms} ms: {row:?}");
                assert!(row.since_due.p99_ms >= row.latency.p50_ms, "{row:?}");
                // What the board was taken, by its own counter: for each request what it needs, or more.
                let needed = row.figures.processed * ms / 10.0;
                assert!(row.figures.utilisation > needed * 0.5, "{needed} % or more: {row:?}");
            }
        }
        let sum = configuration.shared.sum;
        assert!(sum.processed > 0.25 * sum.target && sum.utilisation < 310.0, "{configuration:?}");
    }
    let [alone, fair, fifo] = &report.light[..] else { panic!("{:?}", report.light) };
    assert!(alone.latency.p50_ms >= 2.0, "{alone:?}");
    // Ten tasks of 10 ms are before it, or one.
    assert!(fifo.latency.p50_ms > 80.0, "{fifo:?}");
    assert!(fair.latency.p50_ms < fifo.latency.p50_ms / 2.0, "{fair:?}");
    assert!(report.claims().is_empty(), "a quick run claims nothing");

    let text = report.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH && !line.ends_with('…')), "{text}");
    for part in [
        "Table I:",
        "Table II: sobel",
        "Table III: matmul",
        "Table IV: alexnet",
        "high shared",
        "sobel-5 on B",
        "49.58",
        "fifo",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["schema"], SCHEMA);
    assert_eq!(json["configurations"][0]["shared"]["functions"][4]["node"], "B");
    assert!(report.svgs().iter().all(|(_, svg)| svg.starts_with("<svg")));
}

#[test]
fn what_is_missing_is_named() {
    let nowhere = Options { programs: "/nowhere".into(), ..options() };
    let why = run(&nowhere, &mut Silent).unwrap_err().to_string();
    assert!(why.contains("/nowhere") && why.contains("make -C workloads"), "{why}");
    let folder = TempDir::new().unwrap();
    let empty = Options { programs: folder.path().to_owned(), ..options() };
    let why = run(&empty, &mut Silent).unwrap_err().to_string();
    assert!(why.contains("sobel") && why.contains("make -C workloads"), "{why}");
    let no_library = Options { library: Some("/dev/null".into()), ..options() };
    let why = run(&no_library, &mut Silent).unwrap_err().to_string();
    assert!(why.contains("shared-1 has ended"), "{why}");
}
