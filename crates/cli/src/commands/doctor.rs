//! `rackloom doctor`: checks that this machine has what Rackloom needs.

use std::process::Command;

use rackloom::Net;
use rackloom_ipc::Endpoint;
use rackloom_live::Raw;
use rackloom_sandbox::WasmSandbox;
use schemars::JsonSchema;
use serde::Serialize;

use crate::bench::process::processor;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::opencl_loader;

/// The state of this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DoctorReport {
    /// `rackloom.doctor/1`
    schema: &'static str,
    /// Version of this program.
    version: &'static str,
    /// The checks.
    checks: Vec<Check>,
    /// Whether none failed.
    ok: bool,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Check {
    /// What was checked.
    name: &'static str,
    /// `pass`, `fail` or `skip`.
    result: &'static str,
    /// What was found.
    found: String,
    /// What to do, if anything.
    help: Option<String>,
}

pub(super) fn run(cx: &Context) -> Result<Exit> {
    let checks = vec![
        processor_check(),
        sandbox_check(),
        segment_check(cx),
        raw_check(&cx.global.net),
        clang_check(),
        client_check(),
        loader_check(),
        managers_check(),
    ];
    let ok = checks.iter().all(|c| c.result != "fail");
    let report = DoctorReport { schema: "rackloom.doctor/1", version: env!("CARGO_PKG_VERSION"), checks, ok };
    cx.ui.result(&report, || {
        let mut out = format!("rackloom {}\n", report.version);
        for c in &report.checks {
            out.push_str(&format!("{}  {}: {}\n", c.result.to_uppercase(), c.name, c.found));
            if let Some(help) = &c.help {
                out.push_str(&format!("      {help}\n"));
            }
        }
        out
    });
    Ok(if ok { Exit::Ok } else { Exit::Negative })
}

fn pass(name: &'static str, found: impl Into<String>) -> Check {
    Check { name, result: "pass", found: found.into(), help: None }
}

fn processor_check() -> Check {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    #[cfg(target_arch = "x86_64")]
    let features: Vec<_> = [
        ("sse4.1", std::arch::is_x86_feature_detected!("sse4.1")),
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
    ]
    .into_iter()
    .filter_map(|(name, there)| there.then_some(name))
    .collect();
    #[cfg(not(target_arch = "x86_64"))]
    let features: Vec<&str> = Vec::new();
    pass("processor", format!("{}, {threads} threads, {}", processor(), features.join(" ")))
}

fn sandbox_check() -> Check {
    match WasmSandbox::new(rackloom_sandbox::WasmConfig::default()) {
        Ok(_) => pass("role sandbox", "wasmtime compiles for this processor"),
        Err(e) => Check {
            name: "role sandbox",
            result: "fail",
            found: e.to_string(),
            help: Some("model cards need x86_64, aarch64, riscv64 or s390x".to_owned()),
        },
    }
}

fn segment_check(cx: &Context) -> Check {
    let net = &cx.global.net;
    match net.attach() {
        Ok(_) => pass("segment", format!("can attach to {net}")),
        Err(e) if net.segment().is_some() => Check {
            name: "segment",
            result: "skip",
            found: e.to_string(),
            help: Some("start a rack with `rackloom up`, unless none should be up".to_owned()),
        },
        Err(e) => Check { name: "segment", result: "fail", found: e.to_string(), help: None },
    }
}

/// Whether raw sockets can be opened, on the interface of --net or else on the loopback interface.
fn raw_check(net: &Net) -> Check {
    let interface = net.interface().unwrap_or("lo");
    match Raw::open(interface) {
        Ok(_) => pass("raw sockets", format!("can open one on {interface}")),
        Err(e) => Check {
            name: "raw sockets",
            result: if net.interface().is_some() { "fail" } else { "skip" },
            found: e.to_string(),
            help: Some(
                "needed only for --net eth:INTERFACE: run as root, or `setcap cap_net_raw+ep` this program".to_owned(),
            ),
        },
    }
}

/// What confines the processes that `rackloom manager` starts for its clients.
fn client_check() -> Check {
    let name = "confinement of clients";
    let skip = |found: String, help: &str| Check { name, result: "skip", found, help: Some(help.to_owned()) };
    let layers = match rackloom_manager::probe() {
        Ok(layers) => layers,
        Err(why) => return Check { name, result: "fail", found: why.to_string(), help: None },
    };
    let missing: Vec<_> = layers.missing().into_iter().map(|lack| lack.layer).collect();
    let present = layers.present().join(", ");
    if missing.is_empty() {
        return pass(name, present);
    }
    let help = "for `rackloom manager --require-isolation`: namespaces need user.max_user_namespaces above 0 and, on \
                Ubuntu, an AppArmor profile of this program with `userns,`; Landlock needs Linux 5.13 and `landlock` in \
                its `lsm=`; seccomp needs a kernel with CONFIG_SECCOMP_FILTER. Control groups need version 2 and a group \
                of the manager's own, such as a systemd unit's with `Delegate=memory pids cpu`. Users of their own need root";
    skip(format!("{present}; without {}", missing.join(", ")), help)
}

/// In which variable programs take Rackloom's library.
fn loader_check() -> Check {
    let name = "OpenCL loader";
    let Some(path) = opencl_loader::of_this_process() else {
        let help = "needed only for OpenCL programs: install one (Debian: ocl-icd-libopencl1)".to_owned();
        return Check { name, result: "skip", found: "no libOpenCL.so.1 is installed".to_owned(), help: Some(help) };
    };
    match opencl_loader::variable(&path) {
        Some(variable) => pass(name, format!("{}, which takes a library in {variable}", path.display())),
        None => {
            let help = "it takes libraries from files in /etc/OpenCL/vendors only: write one, rackloom.icd".to_owned();
            Check { name, result: "skip", found: path.display().to_string(), help: Some(help) }
        }
    }
}

/// Whether programs of this environment may use the managers that it names, as far as that shows here.
fn managers_check() -> Check {
    let name = "way to managers";
    let fail = |found: String, help: &str| Check { name, result: "fail", found, help: Some(help.to_owned()) };
    let Ok(list) = std::env::var("RACKLOOM_MANAGERS") else {
        let found = "RACKLOOM_MANAGERS is not set: programs ask the manager of this machine".to_owned();
        return Check { name, result: "skip", found, help: None };
    };
    let is_set = |variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0");
    for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        match entry.parse::<Endpoint>() {
            Err(why) => return fail(why, "programs leave it out; correct RACKLOOM_MANAGERS"),
            Ok(endpoint) if endpoint.is_exposed() && !is_set("RACKLOOM_INSECURE") => {
                let help = "let the manager listen with tls:, and name it so; or allow this with RACKLOOM_INSECURE=1";
                return fail(format!("{endpoint} is plain TCP to another machine: programs refuse it"), help);
            }
            Ok(Endpoint::Tls(address)) if address.pin.is_none() && !is_set("RACKLOOM_TLS_CA") => {
                let help = "add #sha256:DIGEST, as the manager prints it, or set RACKLOOM_TLS_CA to authorities in PEM";
                return fail(format!("nothing says how to know the manager at tls:{address}"), help);
            }
            Ok(_) => {}
        }
    }
    pass(name, list)
}

fn clang_check() -> Check {
    let missing = |found: String| Check {
        name: "clang for wasm32",
        result: "skip",
        found,
        help: Some("needed only for `image build`: `apt-get install clang lld`, or set RACKLOOM_CLANG".to_owned()),
    };
    let clang = std::env::var_os("RACKLOOM_CLANG").unwrap_or_else(|| "clang".into());
    let Ok(output) = Command::new(&clang).arg("--print-targets").output() else {
        return missing(format!("cannot run {}", clang.to_string_lossy()));
    };
    if !String::from_utf8_lossy(&output.stdout).contains("wasm32") {
        return missing(format!("{} does not support wasm32", clang.to_string_lossy()));
    }
    let version = Command::new(&clang).arg("--version").output().map(|o| o.stdout).unwrap_or_default();
    pass("clang for wasm32", String::from_utf8_lossy(&version).lines().next().unwrap_or_default().to_owned())
}
