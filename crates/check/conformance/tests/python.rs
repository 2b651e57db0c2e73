//! The card in Python: what every card does, this one does.

mod suite {
    use rackloom_conformance::PythonCard;

    rackloom_conformance::suite!(cards of PythonCard);
}

/// Its Ascon is written from `docs/src/reference/keys.md`: all published vectors of both functions.
#[test]
fn its_tags_and_keys_are_the_published_ones() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let script = format!(
        "import sys; sys.path.insert(0, '{root}/docs/examples/card'); import keys\n\
         for name in 'mac', 'prf':\n    \
             lines = [l.strip() for l in open(f'{root}/crates/core/auth/tests/vectors/ascon_{{name}}.txt')]\n    \
             known = [bytes.fromhex(l) for l in lines if l and not l.startswith('#')]\n    \
             message = lambda n: bytes((16 + i) % 256 for i in range(n))\n    \
             right = [getattr(keys, name)(bytes(range(16)), message(n)) for n in range(len(known))]\n    \
             print(len(known), known == right)\n"
    );
    let python = std::env::var("RACKLOOM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let done = std::process::Command::new(&python).args(["-B", "-c", &script]).output();
    let done = done.unwrap_or_else(|e| panic!("{python}: {e}; RACKLOOM_PYTHON names another Python 3"));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1025 True\n1025 True\n", "{done:?}");
}
