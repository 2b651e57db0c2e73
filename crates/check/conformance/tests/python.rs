//! The card in Python: what every card does, this one does.

mod suite {
    use rackloom_conformance::PythonCard;

    rackloom_conformance::suite!(cards of PythonCard);
}

/// Its Ascon is written from `docs/src/reference/keys.md`: all published vectors of the three functions.
#[test]
fn its_tags_keys_and_ciphertexts_are_the_published_ones() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let script = format!(
        "import sys; sys.path.insert(0, '{root}/docs/examples/card'); import ascon\n\
         for name in 'mac', 'prf':\n    \
             lines = [l.strip() for l in open(f'{root}/crates/core/auth/tests/vectors/ascon_{{name}}.txt')]\n    \
             known = [bytes.fromhex(l) for l in lines if l and not l.startswith('#')]\n    \
             message = lambda n: bytes((16 + i) % 256 for i in range(n))\n    \
             right = [getattr(ascon, name)(bytes(range(16)), message(n)) for n in range(len(known))]\n    \
             print(len(known), known == right)\n\
         lines = [l.strip() for l in open(f'{root}/crates/core/auth/tests/vectors/ascon_aead128.txt')]\n\
         known = [bytes.fromhex(l) for l in lines if l and not l.startswith('#')]\n\
         count = lambda first, n: bytes(range(first, first + n))\n\
         key, nonce = count(0, 16), count(16, 16)\n\
         both = [(count(48, a), count(32, t)) for t in range(33) for a in range(33)]\n\
         made = [ascon.encrypt(key, nonce, a, t) for a, t in both]\n\
         back = [ascon.decrypt(key, nonce, a, *c) == t for c, (a, t) in zip(made, both)]\n\
         print(len(known), known == [c + tag for c, tag in made], all(back))\n"
    );
    let python = std::env::var("RACKLOOM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let done = std::process::Command::new(&python).args(["-B", "-c", &script]).output();
    let done = done.unwrap_or_else(|e| panic!("{python}: {e}; RACKLOOM_PYTHON names another Python 3"));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1025 True\n1025 True\n1089 True True\n", "{done:?}");
}
