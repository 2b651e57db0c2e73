//! Each rule of the registers' description refuses what breaks it, and says where.

use std::fs;

fn error_after(from: &str, to: &str) -> String {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../protocol/registers.toml")).unwrap();
    assert!(text.contains(from), "the description has no {from:?} to change: adapt this test");
    let error =
        protogen::register_forms(&text.replacen(from, to, 1)).expect_err(&format!("{from:?} -> {to:?} is taken"));
    format!("{error:#}")
}

#[test]
fn each_broken_rule_is_named() {
    let cases: &[(&str, &str, &str)] = &[
        // Shape.
        ("access = \"ro\"", "access = \"r\"", "unknown variant `r`"),
        ("bits = \"31-16\"", "bits = \"top\"", "top"),
        // The address map.
        ("name = \"CSR\"", "name = \"REGISTERS\"", "no region CSR"),
        ("name = \"TX\"", "name = \"RING\"", "\"RING\" stands twice"),
        ("base = 0x2000_0000", "base = 0x1000_0000", "regions: 1 stands twice"),
        ("base = 0x2000_0000", "base = 0x2100_0000", "TX: a region starts at"),
        ("slots = 4\n", "", "TX: slots have a number"),
        ("slots = 4\n", "slots = 3\n", "TX: 3 slots of 2048 bytes"),
        ("at = \"16-79\"", "at = \"16-128\"", "LAUNCH.ARG lies outside the slot"),
        ("name = \"KERNEL\", at", "name = \"SEQ\", at", "LAUNCH: \"SEQ\" stands twice"),
        // Registers.
        ("name = \"TIME_HI\"", "name = \"TIME_LO\"", "\"TIME_LO\" stands twice"),
        ("block = \"Session\"", "block = \"Sessions\"", "SESSION: no block Sessions"),
        ("offset = 0x00C", "offset = 0x00D", "EVENTS: not at a word"),
        ("offset = 0x00C", "offset = 0x008", "EVENTS lies inside or before"),
        ("offset = 0x160", "offset = 0x164", "STG_BASE lies inside or before"),
        ("offset = 0x340", "offset = 0x3E0", "BRG_COUNT lies outside the region"),
        // Fields.
        ("bits = \"31-16\"", "bits = \"32-16\"", "CARD.UNIT: a register has 32 bits"),
        ("bits = \"15-8\", doc = \"What runs", "bits = \"16-8\", doc = \"What runs", "CARD: KIND and UNIT share a bit"),
        (
            "bits = \"1\", doc = \"Writes",
            "bits = \"1\", on = \"read\", doc = \"Writes",
            "EVENTS.ACK_DUE: the register is only",
        ),
        ("name = \"ROOT\", bits = \"1\"", "name = \"ROOT\", bits = \"0\"", "DIG_GO: ROOT and PARENTS share a bit"),
        ("names = \"DIVERT\", ", "", "CTL_HEAD.REASON: values and their prefix"),
        ("name = \"BUSY\", value = 7", "name = \"BUSY\", value = 6", "REASON: 6 stands twice"),
        ("name = \"BUSY\", value = 7", "name = \"BUSY\", value = 256", "CTL_HEAD.REASON: 256 does not fit"),
    ];
    for (from, to, wanted) in cases {
        let error = error_after(from, to);
        assert!(error.contains(wanted), "{from:?} -> {to:?} gives {error:?} and not {wanted:?}");
    }
}
