//! Errors have three parts and an exit code.

mod common;

use common::{Finished, Matrix, Rack, parse};

fn fails(done: &Finished, code: i32, parts: &[&str]) {
    assert_eq!(done.code, code, "{}", done.stderr);
    assert_eq!(done.stdout, "");
    for part in parts {
        assert!(done.stderr.contains(part), "no {part:?} in:\n{}", done.stderr);
    }
}

#[test]
fn without_a_rack_the_error_says_how_to_start_one() {
    let rack = Rack::none();
    let help = ["error: no rack is up on segment default", "help: start a rack with `rackloom up`"];
    fails(&rack.run(&["ls"]), 2, &help);
    fails(&rack.run(&["load", "ptrans"]), 2, &help);
    fails(&rack.run(&["card", "add"]), 2, &["error: no rack is up on virtual:default", "help: start one"]);
    let done = rack.run(&["ls", "--json"]);
    assert_eq!(done.code, 2);
    let report = parse(&done.stdout);
    assert_eq!((&report["schema"], &report["exit"]), (&"rackloom.error/1".into(), &2.into()));
    assert!(report["help"].as_str().unwrap().contains("rackloom up"));
}

#[test]
fn wrong_usage_is_code_2() {
    let rack = Rack::none();
    fails(&rack.run(&["frobnicate"]), 2, &["unrecognized subcommand"]);
    fails(&rack.run(&["up", "--card", "rlt:1"]), 2, &["rlt"]);
    fails(&rack.run(&["up", "--hotplug", "soon+1"]), 2, &["2s+4"]);
    fails(&rack.run(&["study", "saf-cots"]), 2, &["unrecognized subcommand 'saf-cots'", "'saf-cost'"]);
    fails(&rack.run(&["study", "saf-cost", "--card", "rtl:1"]), 2, &["unexpected argument '--card'"]);
    fails(&rack.run(&["read", "card0", "0", "8"]), 2, &["unrecognized subcommand 'read'"]);
    fails(&rack.run(&["ls", "--net", "tap:x"]), 2, &["invalid network \"tap:x\": expected virtual"]);
    fails(&rack.run(&["ls", "--net", "eth:nosuch0"]), 2, &["error:"]);
}

/// Wrong usage is an error like any other: the same object, on the same stream, with the same exit code.
#[test]
fn wrong_usage_obeys_json() {
    let rack = Rack::none();
    let report = |args: &[&str]| {
        let done = rack.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("error: "), "{}", done.stderr);
        let report = parse(&done.stdout);
        assert_eq!((&report["schema"], &report["exit"]), (&"rackloom.error/1".into(), &2.into()));
        report
    };
    for args in [&["lod", "--json"][..], &["--json", "lod"]] {
        let report = report(args);
        assert_eq!(report["error"], "unrecognized subcommand 'lod'");
        assert!(report["help"].as_str().unwrap().contains("'load'"), "{report}");
    }
    let value = report(&["up", "--json", "--hotplug", "soon+1"]);
    assert_eq!(value["error"], "invalid value 'soon+1' for '--hotplug <SCRIPT>'");
    assert!(value["causes"][0].as_str().unwrap().contains("expected TIME+N"), "{value}");
    assert!(report(&["mem", "read", "--json"])["error"].as_str().unwrap().contains("<CARD>"));
    assert!(report(&["ls", "--json=yes"])["error"].as_str().unwrap().contains("--json"));
    // What follows `--` is not an option, and without --json the error is text only.
    for args in [&["ls", "--", "--json"][..], &["lod"], &["card"]] {
        let done = rack.run(args);
        assert_eq!((done.code, &*done.stdout), (2, ""), "{args:?}: {}", done.stderr);
    }
    // Help and the version are not errors.
    for args in [&["--help", "--json"][..], &["ls", "--json", "--help"], &["--json", "--version"]] {
        let done = rack.run(args);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.contains("rackloom") && !done.stdout.starts_with('{'), "{}", done.stdout);
    }
}

#[test]
fn a_study_without_its_programs_says_how_to_build_them() {
    let rack = Rack::none();
    let sharing =
        |args: &[&str]| rack.run(&[&["study", "blastfunction-sharing", "--library", "/dev/null"], args].concat());
    fails(&sharing(&["--programs", "nowhere"]), 2, &["error: cannot find nowhere", "make -C workloads"]);
    fails(&sharing(&["--quick", "--seconds", "3"]), 2, &["cannot be used with"]);
}

#[test]
fn a_segment_is_served_once() {
    let rack = Rack::up(&["--cards", "0"]);
    fails(&rack.run(&["up"]), 2, &["is up already, served by process"]);
    let empty = rack.run(&["ls", "--discover", "100ms"]);
    assert_eq!((empty.code, empty.stdout.lines().count()), (0, 1));
    let load = rack.run(&["load", "vadd", "--discover", "100ms"]);
    fails(&load, 2, &["error: no card answered", "help: plug one in with `rackloom card add`"]);
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let rack = Rack::up(&["--cards", "1"]);
    Matrix::random(30, 20, 1).save(&rack.path("a.npy"));
    Matrix::random(20, 31, 2).save(&rack.path("b.npy"));
    let run = |args: &[&str]| rack.run(&[&["run"], args].concat());
    fails(
        &run(&["ptrans", "a.npy", "b.npy", "-o", "c.npy"]),
        2,
        &["error: array `b` has extent 31 in dimension `j`, but `a` has 30", "help:"],
    );
    fails(&run(&["ptrans", "a.npy", "-o", "c.npy"]), 2, &["takes 2 inputs, not 1", "help: its inputs are a, b"]);
    fails(
        &run(&["vadd", "a.npy", "b.npy", "-o", "c.npy"]),
        2,
        &["array `a` has 2 dimensions, but its index `i` has 1"],
    );
    fails(
        &run(&["ptrans", "a.npy", "nosuch.npy", "-o", "c.npy"]),
        2,
        &["cannot read nosuch.npy", "caused by: No such file"],
    );
    fails(
        &run(&["ptrns", "a.npy", "b.npy", "-o", "c.npy"]),
        2,
        &["no built-in role is named `ptrns`", "help: did you mean `ptrans`?"],
    );
    fails(
        &run(&["gemm/gem", "a.npy", "b.npy", "-o", "c.npy"]),
        2,
        &["has no kernel `gem`", "did you mean `gemm/gemm`?"],
    );
    fails(
        &run(&["gemm", "a.npy", "b.npy", "-o", "c.npy", "--tile", "k=8"]),
        2,
        &["cannot be tiled in dimension `k`", "i, j"],
    );
    fails(&run(&["gemm", "a.npy", "b.npy", "-o", "c.npy", "--set", "x=1"]), 2, &["has no scalar `x`"]);
    std::fs::write(rack.path("text.npy"), "1,2,3\n4,5,6\n").unwrap();
    fails(
        &run(&["ptrans", "a.npy", "text.npy", "-o", "c.npy"]),
        2,
        &["cannot use text.npy", "not an .npy file", "numpy.save"],
    );
}

#[test]
fn an_unknown_card_is_named_beside_the_known_ones() {
    let rack = Rack::up(&["--cards", "2"]);
    fails(&rack.run(&["info", "card7"]), 2, &["no card named `card7`", "help: these cards answered: card0, card1"]);
    fails(&rack.run(&["load", "vadd", "--card", "02:00:00:00:00:99"]), 2, &["no card named"]);
    fails(
        &rack.run(&["card", "rm", "card9"]),
        2,
        &["the rack has no card named `card9`", "help: its cards are card0, card1"],
    );
}

#[test]
fn a_bad_image_leaves_the_old_role_running() {
    let rack = Rack::up(&["--cards", "2"]);
    rack.json(&["load", "vadd"]);
    std::fs::write(rack.path("text.rli"), "no image at all").unwrap();
    fails(&rack.run(&["load", "text.rli"]), 2, &["text.rli is not a valid image", "caused by:"]);

    // An image whose digests are right, but whose module is not WebAssembly.
    let manifest = r#"{"name":"evil","version":"1","kernels":[{"name":"evil","args":[],"arrays":[]}]}"#;
    let manifest = rackloom_image::Manifest::from_json(manifest.as_bytes()).unwrap();
    let part = b"\0asm\x01\0\0\0 this is no module".to_vec();
    let image = rackloom_image::ImageBuilder::new(manifest).part("model", part).build().unwrap();
    std::fs::write(rack.path("evil.rli"), image).unwrap();
    let done = rack.run(&["load", "evil.rli"]);
    fails(
        &done,
        2,
        &[
            "no card took evil.rli",
            "caused by: card0 (",
            "): did not take the image",
            "help: check the file with `rackloom image verify`",
        ],
    );
    assert_eq!(rack.run(&["image", "verify", "evil.rli"]).code, 1);
    let roles = common::strings(&rack.json(&["ls"])["cards"], "role");
    assert_eq!(roles, ["vadd", "vadd"], "the old role still serves");
}

#[test]
fn a_failing_kernel_is_reported_with_its_reason() {
    let rack = Rack::up(&["--cards", "1", "--memory", "64M"]);
    Matrix::random(8, 8, 1).save(&rack.path("a.npy"));
    let role = rack.path("trap");
    std::fs::create_dir(&role).unwrap();
    std::fs::write(
        role.join("t.c"),
        "#include \"rackloom.h\"\nRL_KERNEL(t)(u64 a, u64 b) { (void)a; (void)b; __builtin_trap(); }\n",
    )
    .unwrap();
    let manifest = "name = \"t\"\nversion = \"1\"\n[[kernels]]\nname = \"t\"\nargs = [\"a\", \"b\"]\narrays = [\n\
        { name = \"a\", dtype = \"f32\", index = \"ij\", dir = \"in\" },\n\
        { name = \"b\", dtype = \"f32\", index = \"ij\", dir = \"out\" } ]\n";
    std::fs::write(role.join("role.toml"), manifest).unwrap();
    rack.json(&["image", "build", "trap", "-o", "trap.rli"]);
    fails(
        &rack.run(&["run", "./trap.rli", "a.npy", "-o", "b.npy"]),
        2,
        &["error: card0 (", "): the kernel failed after", "help: check the kernel"],
    );
}

#[test]
fn a_job_that_takes_too_long_is_code_4() {
    let rack = Rack::up(&["--cards", "1"]);
    Matrix::random(1500, 1500, 1).save(&rack.path("a.npy"));
    let args = ["run", "gemm", "a.npy", "a.npy", "-o", "c.npy", "--tile", "i=64", "--timeout", "100ms"];
    fails(&rack.run(&args), 4, &["the job was not finished in 100ms", "tiles are left", "help: allow more time"]);
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let rack = Rack::none();
    let mut child = rack.command(&["completions", "bash"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
