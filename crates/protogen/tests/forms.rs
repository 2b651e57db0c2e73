//! The forms in the repository are those that the description makes.

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn forms() -> Vec<protogen::Form> {
    protogen::forms(&fs::read_to_string(root().join(protogen::SOURCE)).unwrap()).unwrap()
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
        fs::write(there.path().join(form.path), form.text.replacen('1', "2", 1)).unwrap();
        assert!(form.is_stale(there.path()).unwrap(), "{} is changed", form.path);
    }
}

#[test]
fn a_new_counter_reaches_every_form() {
    let description = fs::read_to_string(root().join(protogen::SOURCE)).unwrap();
    let new = "[[counter]]\nname = \"drop_cosmic\"\ndoc = \"Dropped: hit by a cosmic ray.\"\n";
    for form in protogen::forms(&format!("{description}\n{new}")).unwrap() {
        let wanted =
            if form.path.ends_with(".rs") || form.path.ends_with(".sv") { "DropCosmic" } else { "drop_cosmic" };
        assert!(form.text.contains(wanted), "{}", form.path);
    }
}
