//! Help, manual pages, completions, schemas and reference pages agree with the command.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Rack, parse};

/// Compares a page of the documentation with what the command prints; RACKLOOM_BLESS=1 writes it.
fn is_fresh(page: &str, file: &str) {
    let printed = Rack::none().run(&["reference", page]).stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference").join(file);
    if std::env::var_os("RACKLOOM_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &printed).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == printed, "{file} is stale; run RACKLOOM_BLESS=1 cargo test -p rackloom-cli --test docs");
}

#[test]
fn the_reference_of_commands_is_fresh() {
    is_fresh("cli", "cli.md");
}

#[test]
fn the_reference_of_json_is_fresh() {
    is_fresh("json", "json.md");
    let page = Rack::none().run(&["reference", "json"]).stdout;
    let undocumented: Vec<_> = page.lines().filter(|line| line.starts_with("| `") && line.ends_with("|  |")).collect();
    assert!(undocumented.is_empty(), "fields without a meaning: {undocumented:?}");
}

#[test]
fn short_help_fits_a_terminal() {
    let rack = Rack::none();
    for command in [
        "",
        "up",
        "card",
        "nic",
        "ls",
        "demo",
        "info",
        "image",
        "load",
        "run",
        "mem read",
        "mem write",
        "rma open",
        "rma read",
        "rma write",
        "rma add",
        "stream send",
        "stream receive",
        "stream connect",
        "comm run",
        "comm bench",
        "manager",
        "top",
        "study",
        "study saf-reconfigure",
        "study blastfunction-sharing",
        "bench",
        "bench nic",
        "bench opencl-overhead",
        "doctor",
    ] {
        let args: Vec<_> = command.split_whitespace().chain(["-h"]).collect();
        let mut help = rack.command(&args);
        let help = String::from_utf8(help.env("COLUMNS", "80").output().unwrap().stdout).unwrap();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
fn help_lists_commands_in_groups() {
    let help = Rack::none().run(&["--help"]).stdout;
    let headings: Vec<_> = help.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    let groups = ["The rack:", "Cards:", "Sharing:", "Papers and benches:", "This machine:"];
    assert_eq!(headings, [&groups[..], &["Everywhere:", "Try it without hardware:"]].concat(), "{help}");
    assert_eq!(Rack::none().run(&["help"]).stdout, help);
}

#[test]
fn topics_can_be_read() {
    let rack = Rack::none();
    assert!(rack.run(&["help", "exit-codes"]).stdout.contains("130  interrupted"));
    assert!(rack.run(&["help", "environment"]).stdout.contains("RACKLOOM_RUN"));
}

#[test]
fn manual_pages_and_completions_are_made() {
    let rack = Rack::none();
    assert_eq!(rack.run(&["man", "man"]).code, 0);
    let pages: BTreeSet<_> =
        std::fs::read_dir(rack.path("man")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    for page in ["rackloom.1", "rackloom-up.1", "rackloom-run.1", "rackloom-image-build.1"] {
        assert!(pages.contains(page), "{pages:?}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = rack.run(&["completions", shell]).stdout;
        assert!(script.contains("hotplug") && script.contains("doctor"), "{shell}");
    }
}

/// What a command prints has the fields that its schema requires, and no others.
fn conforms(rack: &Rack, args: &[&str]) {
    let value = parse(rack.run(&[args, &["--json"]].concat()).stdout.lines().next().unwrap());
    let name = value["schema"].as_str().unwrap();
    let schema = parse(&rack.run(&["schema", name]).stdout);
    let keys = |v: &serde_json::Value| v.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&value), keys(&schema["properties"]), "{name}");
    for (field, schema) in schema["properties"].as_object().unwrap() {
        let types = &schema["type"];
        let is = |t: &str| types == t || types.as_array().is_some_and(|a| a.iter().any(|v| v == t));
        let ok = match &value[field] {
            serde_json::Value::Null => is("null") || schema.get("anyOf").is_some(),
            serde_json::Value::Bool(_) => is("boolean"),
            serde_json::Value::Number(n) => is("number") || (is("integer") && !n.is_f64()),
            serde_json::Value::String(_) => is("string"),
            serde_json::Value::Array(_) => is("array"),
            serde_json::Value::Object(_) => {
                is("object") || schema.get("$ref").is_some() || schema.get("anyOf").is_some()
            }
        };
        assert!(ok, "{name}.{field} is {}, not {types}", value[field]);
    }
}

#[test]
fn json_conforms_to_its_schemas() {
    let rack = Rack::up(&["--cards", "1"]);
    std::fs::write(rack.path("x.bin"), [7; 100]).unwrap();
    common::Matrix::random(10, 10, 1).save(&rack.path("a.npy"));
    for args in [
        &["ls"][..],
        &["load", "vadd"],
        &["info", "card0"],
        &["card", "ls"],
        &["nic", "ls"],
        &["image", "show", "gemm"],
        &["image", "verify", "gemm"],
        &["mem", "write", "card0", "1M", "x.bin"],
        &["mem", "read", "card0", "1M", "100"],
        &["run", "ptrans", "a.npy", "a.npy", "-o", "c.npy"],
        &["doctor"],
        &["demo", "--cards", "2", "--order", "100", "--image", "1M"],
        &["bench", "load", "--cards", "2", "--bytes", "1M", "--times", "1"],
        &["bench", "rtt", "--reads", "100"],
        &["up", "--net", "virtual:other", "--for", "0"],
        &["comm", "topology", "polar-fly:3"],
        &["study"],
        &["study", "diad-features"],
        &["study", "diad-latency", "--quick"],
        &["study", "diad-multichase", "--quick"],
        &["study", "diad-throughput", "--quick"],
        &["study", "optweb-applications"],
        &["study", "optweb-collectives", "--quick"],
        &["study", "optweb-cost"],
        &["study", "optweb-gateware"],
        &["study", "optweb-jitter", "--quick"],
        &["study", "optweb-topologies", "--quick"],
        &["study", "saf-cost"],
        &["study", "saf-ondemand", "--quick"],
        &["study", "saf-reconfigure", "--quick"],
        &["study", "saf-scaling", "--quick"],
        &["completions", "fish"],
        &["load", "nosuch"],
        &["nosuch"],
        &["ls", "--watch", "--for", "100ms"],
    ] {
        conforms(&rack, args);
    }
}
