//! The forms in the repository are those that the descriptions make.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{control, root};
use protogen::Source;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn forms() -> Vec<protogen::Form> {
    let mut forms = protogen::forms(&protogen::sources(root()).unwrap()).unwrap();
    forms.extend(protogen::register_forms(&read(protogen::REGISTERS)).unwrap());
    forms
}

#[test]
fn no_form_is_stale() {
    let stale: Vec<_> = forms().into_iter().filter(|f| f.is_stale(root()).unwrap()).map(|f| f.path).collect();
    assert!(stale.is_empty(), "stale: {}; run `cargo run -p protogen` and commit what it writes", stale.join(", "));
}

#[test]
fn a_missing_or_changed_form_is_stale_until_written() {
    let there = tempfile::tempdir().unwrap();
    for form in forms() {
        assert!(form.is_stale(there.path()).unwrap(), "{} is missing", form.path);
        form.write(there.path()).unwrap();
        assert!(!form.is_stale(there.path()).unwrap(), "{} is written", form.path);
        fs::write(there.path().join(&form.path), form.text.clone() + "\n").unwrap();
        assert!(form.is_stale(there.path()).unwrap(), "{} is changed", form.path);
    }
}

#[test]
fn a_new_counter_reaches_every_form_of_its_family() {
    let new = "[[counter]]\nname = \"drop_cosmic\"\noptional = true\ndoc = \"Dropped: hit by a cosmic ray.\"\n";
    let source = Source { text: format!("{}\n{new}", control().text), ..control() };
    let forms = protogen::forms(&[source]).unwrap();
    let shared = ["/mod.rs", "/rules.rs"];
    for form in forms.iter().filter(|f| !shared.iter().any(|end| f.path.ends_with(end))) {
        let wanted = match form.path.rsplit('.').next() {
            Some("rs" | "sv") => "DropCosmic",
            Some("h") => "DROP_COSMIC",
            _ => "drop_cosmic",
        };
        assert!(form.text.contains(wanted), "{}", form.path);
    }
}

/// Gateware and firmware count those that every card has; the wire has all.
#[test]
fn counters_that_a_card_may_lack_are_numbered_behind_the_others() {
    let forms = forms();
    let find = |end: &str| &forms.iter().find(|f| f.path.ends_with(end)).unwrap().text;
    let after = |end: &str, start: &str| {
        let line =
            find(end).lines().rev().find_map(|l| l.trim().strip_prefix(start)).unwrap_or_else(|| panic!("{start}"));
        line.trim_end_matches([';', 'u', ',']).parse::<usize>().unwrap()
    };
    let common = after("rl_wire_pkg.sv", "localparam int unsigned CommonCounterCount = ");
    assert_eq!(common, after("/control.rs", "pub const COMMON: usize = "));
    assert_eq!(common, after("wire.h", "#define COUNTERS_COMMON "));
    assert_eq!(common, after("protocol.py", "common_counters="));
    assert_eq!(after("wire.h", "#define COUNTERS "), after("/control.rs", "pub const COUNT: usize = "));
    assert_eq!(after("wire.h", "#define COUNTER_BRIDGE_RX "), common);
    assert!(find("wire.md").contains(&format!("Those from number {common} on are of parts that a card may lack")));
}

#[test]
fn a_new_register_reaches_every_form() {
    let new =
        "[[register]]\nblock = \"Bridge\"\nname = \"COSMIC_RAYS\"\noffset = 0x3FC\naccess = \"ro\"\ndoc = \"Rays.\"\n";
    let registers = read(protogen::REGISTERS);
    for form in protogen::register_forms(&format!("{registers}\n{new}")).unwrap() {
        let wanted = if form.path.ends_with(".sv") { "CsrCosmicRays = 8'hff" } else { "COSMIC_RAYS" };
        assert!(form.text.contains(wanted), "{}", form.path);
    }
}

/// Firmware includes both headers.
#[test]
fn names_in_c_are_unique() {
    let mut seen = BTreeSet::new();
    for form in forms().into_iter().filter(|f| f.path.ends_with(".h")) {
        for line in form.text.lines() {
            let Some(rest) = line.strip_prefix("#define ") else { continue };
            let name = rest.split([' ', '(']).next().unwrap();
            assert!(seen.insert(name.to_owned()), "{}: {name} stands twice", form.path);
        }
    }
    for some in ["CSR_TIME_LO", "EVENTS_ALARM", "CTL_HEAD_REASON_SHIFT", "KIND_SESSION_CLAIM", "REFUSAL_HOLDER_SHIFT"] {
        assert!(seen.contains(some), "{some}");
    }
}

/// The reasons are the hardware's: the description repeats them for the firmware.
#[test]
fn reasons_are_those_of_the_gateware() {
    let package = read("gateware/rtl/shell/rl_shell_pkg.sv");
    let gateware: BTreeSet<_> = package
        .lines()
        .filter_map(|l| l.trim().strip_prefix("Divert")?.split_once(" = 8'd"))
        .map(|(name, rest)| (name.trim().to_uppercase(), rest.split([',', ' ']).next().unwrap().to_owned()))
        .collect();
    let header = forms().into_iter().find(|f| f.path.ends_with("csr.h")).unwrap().text;
    let firmware: BTreeSet<_> = header
        .lines()
        .filter_map(|l| l.strip_prefix("#define DIVERT_")?.split_once(' '))
        .map(|(name, value)| (name.to_owned(), value.trim_end_matches('u').to_owned()))
        .collect();
    assert!(gateware.len() >= 8, "{gateware:?}");
    assert!(gateware.is_subset(&firmware), "{firmware:?} lacks some of {gateware:?}");
}
