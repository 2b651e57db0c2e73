//! Two terminals: a rack in one, its users in the other.

mod common;

use common::{Matrix, Rack, is_product, parse, strings};

#[test]
fn a_rack_is_listed_loaded_and_put_to_work() {
    let mut rack = Rack::up(&["--cards", "4"]);
    assert_eq!(rack.names(), ["card0", "card1", "card2", "card3"]);

    let load = rack.json(&["load", "ptrans"]);
    assert_eq!(load["schema"], "rackloom.load/1");
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");
    assert_eq!(strings(&rack.json(&["ls"])["cards"], "role"), ["ptrans"; 4]);

    for (rows, columns, seed) in [(701, 523, 1), (1, 1, 2), (64, 1000, 3)] {
        let (a, b) = (Matrix::random(columns, rows, seed), Matrix::random(rows, columns, seed + 100));
        a.save(&rack.path("a.npy"));
        b.save(&rack.path("b.npy"));
        let report = rack.json(&["run", "ptrans", "a.npy", "b.npy", "-o", "c.npy"]);
        let c = Matrix::load(&rack.path("c.npy"), rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                assert_eq!(c.at(i, j), b.at(i, j) + a.at(j, i), "{rows}x{columns} at {i},{j}");
            }
        }
        let tiles: u64 = report["cards"].as_array().unwrap().iter().map(|c| c["tiles"].as_u64().unwrap()).sum();
        assert_eq!(tiles, report["tiles"].as_u64().unwrap());
    }
    assert_eq!(rack.interrupt(), Some(0), "Ctrl-C takes a rack down in good order");
    assert_eq!(rack.run(&["ls"]).code, 2);
}

#[test]
fn a_job_keeps_to_the_cards_it_is_given_and_loads_its_role() {
    let rack = Rack::up(&["--cards", "3"]);
    rack.json(&["load", "vadd"]);
    let (a, b) = (Matrix::random(333, 257, 5), Matrix::random(257, 129, 6));
    a.save(&rack.path("a.npy"));
    b.save(&rack.path("b.npy"));
    let report = rack.json(&["run", "gemm/gemm", "a.npy", "b.npy", "-o", "c.npy", "--card", "1", "--card", "card2"]);
    assert_eq!(strings(&report["cards"], "name"), ["card1", "card2"]);
    assert!(is_product(&a, &b, &Matrix::load(&rack.path("c.npy"), 333, 129)));
    let roles = strings(&rack.json(&["ls"])["cards"], "role");
    assert_eq!(roles[0], "vadd");
    // A job this short may end before its second card is ready.
    let joined: Vec<_> = (0..2).filter(|card| report["cards"][card]["joined"].is_number()).collect();
    assert!(!joined.is_empty(), "{report}");
    assert!(joined.iter().all(|card| roles[card + 1] == "gemm"), "{roles:?}: {report}");
}

#[test]
fn memory_is_written_read_and_kept_by_a_change_of_role() {
    let rack = Rack::up(&["--cards", "2", "--memory", "64M"]);
    let bytes: Vec<u8> = (0..1_000_003u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(rack.path("in.bin"), &bytes).unwrap();
    rack.json(&["mem", "write", "card1", "2M", "in.bin"]);
    rack.json(&["load", "sobel", "--card", "card1"]);
    rack.json(&["mem", "read", "card1", "2M", "1000003", "-o", "out.bin"]);
    assert!(std::fs::read(rack.path("out.bin")).unwrap() == bytes);
    let shown = rack.json(&["mem", "read", "1", "0x200000", "8"]);
    let hex: String = bytes[..8].iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(shown["hex"], hex);
    let beyond = rack.run(&["mem", "read", "card1", "64M", "64"]);
    assert_eq!(beyond.code, 2, "{}", beyond.stderr);
    let named = beyond.stderr.contains("caused by: card1 (") && beyond.stderr.contains("): refused: ");
    assert!(named, "{}", beyond.stderr);
}

#[test]
fn info_shows_memory_kernels_and_counters() {
    let rack = Rack::up(&["--card", "model:2", "--memory", "128M"]);
    rack.json(&["load", "gemm"]);
    let info = rack.json(&["info", "card1"]);
    assert_eq!(info["card"]["memory"], 128 << 20);
    assert_eq!(info["kernels"][0]["name"], "gemm");
    assert_eq!(info["counters"]["images_activated"], 1);
    let text = rack.run(&["info", "1"]).stdout;
    assert!(text.contains("c[ij]: f32 = gemm(a[ik]: f32, b[kj]: f32)"), "{text}");
}

#[test]
fn a_capture_is_a_pcapng_file_with_all_frames() {
    let mut rack = Rack::up(&["--cards", "1", "--capture", "run.pcap"]);
    rack.json(&["load", "vadd"]);
    assert_eq!(rack.interrupt(), Some(0));
    let file = std::fs::read(rack.path("run.pcap")).unwrap();
    assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a], "the magic of pcapng");
    let count = |ethertype: [u8; 2]| file.windows(2).filter(|w| *w == ethertype).count();
    assert!(count([0x80, 0xef]) > 0, "discovery");
    assert!(count([0x80, 0xaa]) > 0, "image data");
}

#[test]
fn an_image_is_built_shown_checked_and_run() {
    let rack = Rack::up(&["--cards", "2"]);
    let role = rack.path("role");
    std::fs::create_dir(&role).unwrap();
    let source = "#include \"rackloom.h\"\n\
        RL_KERNEL(twice)(u64 x_addr, u64 y_addr, u64 n) {\n\
        const f32 *x = rl_array(x_addr, n, 1, sizeof(f32)); f32 *y = rl_array(y_addr, n, 1, sizeof(f32));\n\
        for (u64 i = 0; i < n; i++) y[i] = 2 * x[i];\n  return 0;\n}\n";
    std::fs::write(role.join("twice.c"), source).unwrap();
    let manifest = "name = \"twice\"\nversion = \"1\"\n[[kernels]]\nname = \"twice\"\nargs = [\"x\", \"y\", \"i\"]\n\
        tile = { i = 1000 }\narrays = [\n{ name = \"x\", dtype = \"f32\", index = \"ij\", dir = \"in\" },\n\
        { name = \"y\", dtype = \"f32\", index = \"ij\", dir = \"out\" } ]\n";
    std::fs::write(role.join("role.toml"), manifest).unwrap();
    let built = rack.json(&["image", "build", "role", "-o", "twice.rli", "--pad-to", "200000"]);
    assert_eq!(built["parts"][0]["bytes"], 200_000);
    assert_eq!(rack.json(&["image", "show", "twice.rli"])["digest"], built["digest"]);
    assert_eq!(rack.json(&["image", "verify", "./twice.rli"])["ok"], true);

    let x = Matrix::random(5000, 1, 9);
    x.save(&rack.path("x.npy"));
    rack.json(&["run", "./twice.rli", "x.npy", "-o", "y.npy"]);
    let y = Matrix::load(&rack.path("y.npy"), 5000, 1);
    assert!(x.cells.iter().zip(&y.cells).all(|(x, y)| *y == 2.0 * x));

    let mut damaged = std::fs::read(rack.path("twice.rli")).unwrap();
    let last = damaged.len() - 100;
    damaged[last] ^= 1;
    std::fs::write(rack.path("damaged.rli"), damaged).unwrap();
    let checked = rack.run(&["image", "verify", "damaged.rli", "--json"]);
    assert_eq!((checked.code, &parse(&checked.stdout)["ok"]), (1, &serde_json::json!(false)));
}

/// A rack that was started again with its seed granted the epochs of its former life.
#[test]
fn regression_a_seed_repeated_boot_numbers_and_epochs() {
    let start = || {
        let rack = Rack::up(&["--cards", "1", "--seed", "7"]);
        let info = rack.json(&["info", "card0"]);
        (info["card"]["mac"].clone(), info["boot"].clone())
    };
    let (first, second) = (start(), start());
    assert_eq!(first.0, second.0, "the seed makes the addresses");
    assert_ne!(first.1, second.1);
}
