//! The Grafana dashboard asks for what a manager exports, under the labels that it has.
//!
//! What it asks of the registry is checked where the registry is, in `cloud/internal/server`.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use clap::Parser;
use common::Tenant;
use rackloom_manager::Options;
use rackloom_opencl_wire::{Command, VERSION};
use serde_json::Value;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

/// What a manager that a program has used tells at `/metrics`.
fn scraped() -> String {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}/manager.sock", folder.path().display());
    let options = ["manager", "--listen", &socket, "--metrics", "127.0.0.1:0", "--isolate", "none"];
    let arguments = Arguments::parse_from(options);
    let service = arguments.options.start().unwrap();
    let tenant = Tenant::silent(service.endpoints().next().unwrap());
    tenant.ask(|request| Command::Hello { request, version: VERSION, name: "test" }).unwrap();
    tenant.ask(|request| Command::Open { request, board: 0 }).unwrap();
    tenant.buffer(0, 4);
    assert_eq!(tenant.write(0, 0, b"1234").status, 0);
    get(service.metrics().unwrap(), "/metrics")
}

fn get(from: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(from).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {from}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The labels of each series.
fn exported(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut series: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("rackloom_")) {
        let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("no labels: {line}"));
        let before = rest.split("=\"").take(rest.matches("=\"").count());
        let labels = before.filter_map(|part| part.rsplit([',', '"']).next());
        series.entry(name.to_owned()).or_default().extend(labels.map(Into::into));
    }
    series
}

/// The words of an expression that may name metrics or labels.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// All expressions of a dashboard: of its panels and its variables.
fn expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let queries = variables.filter(|v| v["type"] == "query").map(|v| &v["query"]["query"]);
    targets.map(|target| &target["expr"]).chain(queries).map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What is wrong with an expression, given what is exported.
fn fault(expression: &str, series: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let metrics: Vec<_> = words(expression)
        .filter(|word| word.starts_with("rackloom_") && !word.starts_with("rackloom_registry_"))
        .collect();
    if metrics.is_empty() && !expression.contains("rackloom_registry_") {
        return Some("it asks for no metric of ours".to_owned());
    }
    for metric in metrics {
        let Some(labels) = series.get(metric) else { return Some(format!("nobody exports {metric}")) };
        // Labels stand before a comparison, or in a list behind `by`.
        let before = expression.split("=~").take(expression.matches("=~").count());
        let compared = before.filter_map(|part| part.rsplit(['{', ',', ' ']).next());
        let grouped = expression.split("by (").skip(1).flat_map(|part| words(part.split_once(')').unwrap().0));
        let unknown = compared.chain(grouped).find(|label| !labels.contains(*label) && *label != "instance");
        if let Some(label) = unknown {
            return Some(format!("{metric} has no label {label}"));
        }
    }
    None
}

#[test]
fn the_dashboard_asks_for_what_managers_export() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../cloud/dashboards/boards.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let series = exported(&scraped());
    for expression in expressions(&dashboard) {
        assert_eq!(fault(&expression, &series), None, "{expression}");
    }
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "panels have ids of their own");
    for panel in panels {
        assert!(panel["description"].as_str().is_some_and(|text| !text.is_empty()), "{}", panel["title"]);
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
    }
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let names: Vec<_> = variables.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["datasource", "manager", "board"]);
    let asked = expressions(&dashboard).join("\n");
    // The other way round: nothing that is exported is left out but sums that a quantile needs no graph for.
    let left_out: Vec<_> = series.keys().filter(|name| !asked.contains(name.as_str())).collect();
    let sums = |name: &&&String| !name.ends_with("_sum") && !name.ends_with("_count");
    assert_eq!(left_out.iter().filter(sums).count(), 0, "{left_out:?}");
}

#[test]
fn wrong_expressions_are_found() {
    let series = exported("rackloom_a_total{board=\"x, y\",le=\"1\"} 1\nrackloom_b{board=\"z\"} 2\n# EOF\n");
    assert_eq!(series["rackloom_a_total"], BTreeSet::from(["board".to_owned(), "le".to_owned()]));
    let good = "sum by (le, instance) (rate(rackloom_a_total{instance=~\"$m\", board=~\"$b\"}[5m]))";
    assert_eq!(fault(good, &series), None);
    assert_eq!(fault("sum(rackloom_registry_moves_total)", &series), None);
    for (wrong, why) in [
        ("rackloom_c", "nobody exports"),
        ("rackloom_a", "nobody exports"),
        ("sum by (tenant) (rackloom_b)", "no label tenant"),
        ("rackloom_b{le=~\"1\"}", "no label le"),
        ("up", "no metric"),
    ] {
        assert!(fault(wrong, &series).is_some_and(|found| found.contains(why)), "{wrong}");
    }
}
