//! The repository keeps its own rules.

use std::fs;
use std::path::Path;

use rackloom_tidy::metadata::Workspace;
use rackloom_tidy::repo::{self, File};
use rackloom_tidy::{Finding, cores, docs, layers, ledger, parts, rooms, text, words};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

fn workspace() -> Workspace {
    Workspace::load(root()).unwrap()
}

fn each_file(rule: fn(&File) -> Vec<Finding>) {
    let files = repo::files(root()).unwrap();
    // An empty list would keep every rule.
    for known in ["crates/core/wire/src/lib.rs", "protocol/control.toml", "gateware/rtl/common/rl_fifo.sv"] {
        assert!(files.iter().any(|f| f.path == known), "git does not list {known}");
    }
    none(files.iter().flat_map(rule).collect());
}

fn none(mut found: Vec<Finding>) {
    found.sort();
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} broken rules:\n{}", found.len(), lines.join("\n"));
}

#[test]
fn no_tabs_and_no_trailing_blanks() {
    each_file(text::white_space);
}

#[test]
fn lines_fit_the_screen() {
    each_file(text::columns);
}

#[test]
fn files_are_not_too_long() {
    each_file(text::lines);
}

#[test]
fn modules_begin_with_a_doc() {
    each_file(text::module_doc);
}

#[test]
fn files_of_systemverilog_are_named_after_their_module() {
    each_file(text::module_name);
}

#[test]
fn nothing_is_left_unfinished() {
    each_file(text::leftovers);
}

#[test]
fn pages_are_listed_and_their_links_lead_somewhere() {
    let files = repo::files(root()).unwrap();
    assert!(files.iter().any(|f| f.path == "docs/src/SUMMARY.md"), "git does not list the book");
    none(docs::pages(&files));
}

#[test]
fn cores_name_no_socket_clock_thread_or_file() {
    each_file(cores::sources);
}

#[test]
fn cores_depend_on_no_socket_or_runtime() {
    let workspace = workspace();
    for core in ["core/wire", "core/node"] {
        assert!(workspace.members().any(|p| p.folder == core), "the core {core} is not in the workspace");
    }
    none(cores::dependencies(&workspace));
}

#[test]
fn arrows_between_crates_go_down_only() {
    none(layers::arrows(&workspace()));
}

#[test]
fn arrows_between_modules_go_down_only() {
    none(rooms::circles(&repo::files(root()).unwrap()));
}

#[test]
fn phrases_that_our_english_does_not_use_are_absent() {
    each_file(words::phrases);
}

#[test]
fn the_table_of_parts_is_what_the_descriptions_give() {
    none(parts::check(&repo::files(root()).unwrap()).unwrap());
}

#[test]
fn every_dependency_has_its_reason_in_the_ledger() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let ledger = fs::read_to_string(root().join(ledger::FILE)).unwrap();
    let modules = ledger::required(&fs::read_to_string(root().join("cloud/go.mod")).unwrap());
    assert!(modules.contains("google.golang.org/grpc"), "cloud/go.mod is not read right: {modules:?}");
    none(ledger::check(&ledger, &ledger::declared(&manifest).unwrap(), &workspace(), &modules));
}
