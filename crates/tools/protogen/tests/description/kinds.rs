//! A new kind is one entry of a description, which reaches every form; one that is half described is refused.

use crate::common::{control, edited};
use protogen::Source;

/// Where a new kind goes: before the first of EtherType Exec.
const PLACE: &str = "  { name = \"Launch\", value = 1,";
const PAUSE: [(&str, &str); 10] = [
    ("name", "\"Pause\""),
    ("value", "9"),
    ("from", "\"host\""),
    ("to", "\"card\""),
    ("reach", "\"unicast\""),
    ("claim", "\"epoch\""),
    ("taken_by", "\"firmware\""),
    ("order", "\"after-barrier\""),
    ("payload", "\"Read\""),
    ("doc", "\"Let the launch pause.\""),
];

/// The control family with a kind of these keys.
fn with_kind(keys: &[(&str, &str)]) -> Source {
    let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    edited(PLACE, &format!("  {{ {} }},\n{PLACE}", keys.join(", ")))
}

fn error_of(keys: &[(&str, &str)]) -> String {
    format!("{:#}", protogen::check(&[with_kind(keys)]).expect_err(&format!("{keys:?} is taken")))
}

/// The lines of a form from the one with `start` on.
fn lines_from<'a>(text: &'a str, start: &str, lines: usize) -> Vec<&'a str> {
    text.lines().skip_while(|line| !line.contains(start)).take(lines).map(str::trim).collect()
}

#[test]
fn a_new_kind_reaches_every_form_with_its_rules() {
    let forms = protogen::forms(&[with_kind(&PAUSE)]).unwrap();
    let find = |end: &str| &forms.iter().find(|f| f.path.ends_with(end)).unwrap_or_else(|| panic!("no {end}")).text;
    let rust = find("/control.rs");
    assert!(rust.contains("ExecPause = 0x80CC09,"), "a variant");
    assert!(rust.contains("(0x80CC, 9) => Self::ExecPause,"), "read from the wire");
    assert!(rust.contains("Self::ExecPause => \"exec.pause\","), "a name");
    let rules = lines_from(rust, "Self::ExecPause => Rules {", 7).concat();
    for rule in ["Sender::Host", "Receiver::Card", "Reach::Unicast", "ClaimRule::Epoch", "TakenBy::Firmware"] {
        assert!(rules.contains(rule), "{rule} is not in {rules}");
    }
    assert!(rules.contains("Order::AfterBarrier"), "{rules}");
    let before = Source { ..control() };
    let count = |text: &str| {
        text.lines().find_map(|l| l.trim().strip_prefix("localparam int unsigned KindCount = ").map(str::to_owned))
    };
    let old = protogen::forms(&[before]).unwrap();
    let old = &old.iter().find(|f| f.path.ends_with("rl_wire_pkg.sv")).unwrap().text;
    let gateware = find("rl_wire_pkg.sv");
    assert_ne!(count(gateware), count(old), "the number of kinds");
    assert!(gateware.contains("KindExecPause = 8'h09"), "a value of its enum");
    let rules = lines_from(gateware, "'{ether_type: EtherTypeExec, kind: KindExecPause,", 2);
    assert!(rules[1].contains("taken_by: TakenByFirmware, order: OrderAfterBarrier"), "{rules:?}");
    let firmware = find("wire.h");
    for wanted in [
        "#define KIND_EXEC_PAUSE 0x80CC0009u",
        "TAKEN_EXEC_PAUSE = (int)KIND_EXEC_PAUSE,",
        "#define CLAIM_OF_EXEC_PAUSE CLAIM_RULE_EPOCH",
        "#define WORDS_OF_EXEC_PAUSE 2u",
    ] {
        assert!(firmware.contains(wanted), "{wanted}");
    }
    let bench = "\"Exec.Pause\": Kind(number=0x80CC0009, to=\"card\", payload=\"Read\"),";
    assert!(find("protocol.py").contains(bench), "{bench}");
    assert!(find("rackloom.lua").contains("[9] = { name = \"exec.pause\", from = \"host\", payload = \"Read\" },"));
    let page = find("wire.md");
    assert!(page.contains("| 9 | `exec.pause` | host | [Read](#read), 8 bytes | Let the launch pause. |"), "its row");
    assert!(page.contains("| `exec.pause` | host | card | unicast | epoch | firmware | after-barrier |"), "its rules");
}

#[test]
fn a_kind_without_one_of_its_keys_is_refused_by_kind_and_key() {
    for (i, (key, _)) in PAUSE.iter().enumerate() {
        let keys: Vec<_> = PAUSE.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, pair)| *pair).collect();
        let error = error_of(&keys);
        let kind = if *key == "name" { "Exec: a kind's" } else { "Exec.Pause" };
        assert!(error.contains(kind) && error.contains(&format!("`{key}` is missing")), "{key}: {error}");
    }
}

#[test]
fn rules_that_contradict_each_other_are_refused() {
    let with = |changes: &[(&str, &'static str)]| {
        let mut keys = PAUSE;
        for (key, value) in changes {
            keys.iter_mut().find(|(k, _)| k == key).unwrap().1 = value;
        }
        error_of(&keys)
    };
    let cases: &[(&[(&str, &'static str)], &str)] = &[
        (&[("reach", "\"everywhere\"")], "Exec.Pause: `reach` is \"everywhere\", expected one of unicast, group, any"),
        (&[("claim", "7")], "Exec.Pause: `claim` is \"\", expected one of"),
        (&[("value", "\"nine\"")], "Exec.Pause: `value`: expected a number up to 255"),
        (&[("doc", "\"\"")], "Exec.Pause: `doc` is empty"),
        (&[("doc", "\"Pause.\", colour = 3")], "Exec.Pause: unknown key `colour`"),
        (&[("to", "\"host\"")], "Exec.Pause: `to`: what a host sends goes to cards"),
        (&[("taken_by", "\"host\"")], "Exec.Pause: `taken_by` is \"host\", which contradicts `to`"),
        (&[("from", "\"card\""), ("to", "\"host\""), ("taken_by", "\"host\"")], "are a card's rules"),
        (&[("taken_by", "\"write\""), ("order", "\"none\"")], "a hardware path needs after-..."),
        (&[("taken_by", "\"write\""), ("order", "\"barrier\"")], "a hardware path needs after-..."),
        (&[("taken_by", "\"write\"")], "hardware paths: \"write\" stands twice"),
    ];
    for (changes, wanted) in cases {
        let error = with(changes);
        assert!(error.contains(wanted), "{changes:?} gives {error:?} and not {wanted:?}");
    }
}
