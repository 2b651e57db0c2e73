//! The embedded images, and the builder that made them.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rackloom_ddr::Ddr;
use rackloom_image::{Image, TARGET_MODEL};
use rackloom_node::{Duration, Instant};
use rackloom_role::{RoleError, RoleOutput, Sandbox, Step};
use rackloom_rolec::{Options, RolecError, build_role};
use rackloom_sandbox::WasmSandbox;

fn device() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../device/roles")
}

/// A role of one C file in a folder that lasts as long as the test.
fn source(test: &str, c: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("role.c"), c).unwrap();
    let toml = r#"
        name = "mine"
        version = "1"
        [[kernels]]
        name = "k"
        args = ["x", "i"]
        arrays = [{ name = "x", dtype = "u8", index = "i", dir = "in" }]
    "#;
    std::fs::write(dir.join("role.toml"), toml).unwrap();
    dir
}

fn prepare(image: Vec<u8>) -> Result<Box<dyn rackloom_role::Prepared>, RoleError> {
    let image = Image::parse(image.into()).unwrap();
    WasmSandbox::default().prepare(image.manifest(), &image.part(TARGET_MODEL).unwrap(), 4 << 20)
}

#[test]
fn all_roles_are_there_and_run() {
    assert_eq!(
        rackloom_builtin_roles::names().collect::<Vec<_>>(),
        ["burn", "chase", "copy", "echo", "gemm", "probe", "ptrans", "sobel", "vadd"]
    );
    for name in rackloom_builtin_roles::names() {
        let bytes = rackloom_builtin_roles::image(name).unwrap();
        let image = Image::parse(Bytes::from_static(bytes)).unwrap();
        image.verify().unwrap();
        assert_eq!(image.manifest().name, name);
        // `rackloom run NAME` means the kernel of the role's name; these have none, since tests name theirs.
        assert!(["echo", "probe"].contains(&name) || image.manifest().kernel(name).unwrap().0 == 0);
        assert!(bytes.len() < 16 << 10, "{name} has {} bytes", bytes.len());
        prepare(bytes.to_vec()).unwrap();
    }
    assert_eq!(rackloom_builtin_roles::image("nothing"), None);
}

#[test]
fn building_again_gives_the_same_bytes() {
    for name in rackloom_builtin_roles::names() {
        let built = build_role(&device().join(name), &Options::default()).unwrap();
        assert!(built == rackloom_builtin_roles::image(name).unwrap(), "{name}");
    }
}

#[test]
fn a_padded_image_has_the_size_and_runs() {
    let bytes = 97_400_000;
    let padded = rackloom_builtin_roles::padded("vadd", bytes);
    let built = build_role(&device().join("vadd"), &Options { pad_to: Some(bytes), ..Options::default() }).unwrap();
    assert!(padded == built);
    let image = Image::parse(padded.into()).unwrap();
    let part = image.part(TARGET_MODEL).unwrap();
    assert_eq!(part.len(), bytes);
    let ddr = Ddr::new(4 << 20).unwrap();
    let sandbox = WasmSandbox::default();
    let mut role = sandbox.prepare(image.manifest(), &part, 4 << 20).unwrap().activate(&ddr.handle()).unwrap();
    role.start(0, &[1 << 20, 1 << 20, 1 << 20, 16], 0).unwrap();
    assert_eq!(role.step(), Step::Done { value: 0, cycles: 3 });
}

#[test]
fn the_compilers_words_reach_the_user() {
    let dir = source("broken", "#include <rackloom.h>\nRL_KERNEL(k)(u64 x, u64 i) { return x + ; }\n");
    let error = build_role(&dir, &Options::default()).unwrap_err();
    assert!(matches!(&error, RolecError::Compile { output, .. } if output.contains("role.c:2:")), "{error}");
    let error = build_role(&dir, &Options { clang: Some("/no/such/clang".into()), ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("apt-get install clang lld"), "{error}");
    let error = build_role(Path::new("/no/such/role"), &Options::default()).unwrap_err();
    assert!(matches!(error, RolecError::File { .. }), "{error}");
}

/// C as people write it: constants, zeroed statics, recursion, structs copied by calls the compiler makes.
#[test]
fn ordinary_c_works() {
    let c = r#"
        #include <rackloom.h>
        struct big { u64 words[40]; };
        static struct big kept;
        static u32 table[4] = {1, 10, 100, 1000};
        static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        __attribute__((noinline)) static struct big make(u64 n) { struct big b = {{n}}; b.words[39] = n; return b; }
        RL_KERNEL(k)(u64 x, u64 i) {
          u64 before = kept.words[39];
          kept = make(i);
          if (i > 3) __builtin_trap();
          return before * 1000000 + fib(10) * 10 + table[i] + *(const u8 *)rl_array(x, 1, 1, 1);
        }
    "#;
    let image = build_role(&source("ordinary", c), &Options::default()).unwrap();
    let ddr = Ddr::new(4 << 20).unwrap();
    ddr.write(0, &[0xff; 4096]).unwrap();
    ddr.write(60_000, &vec![0xff; 40_000]).unwrap();
    let mut role = prepare(image).unwrap().activate(&ddr.handle()).unwrap();
    let mut run = |i| {
        role.start(0, &[1 << 20, i], 0).unwrap();
        match role.step() {
            Step::Done { value, .. } => Ok(value),
            other => Err(other),
        }
    };
    assert_eq!(run(3), Ok(1550));
    assert_eq!(run(2), Ok(3_000_650), "statics last from launch to launch");
    assert!(run(4).is_err());
    assert_eq!(run(3), Ok(1550), "and are as at first after a fault");
}

/// The example of the guide: a role that answers whoever sends it a frame, and is woken later.
#[test]
fn a_role_in_c_has_a_life_of_its_own() {
    let c = r#"
        #include <rackloom.h>
        static u8 frame[1514];
        RL_KERNEL(k)(u64 x, u64 i) { return x + i; }
        RL_ON_MESSAGE(stream, length) {
          rl_receive((u64)frame, sizeof(frame));
          for (u32 i = 0; i < 6; i++) {
            u8 mac = frame[i];
            frame[i] = frame[6 + i];
            frame[6 + i] = mac;
          }
          rl_send(stream, (u64)frame, length);
          rl_wake(10);
        }
        RL_ON_WAKE { rl_event(frame[12]); }
    "#;
    let image = build_role(&source("alive", c), &Options::default()).unwrap();
    let ddr = Ddr::new(4 << 20).unwrap();
    let mut role = prepare(image).unwrap().activate(&ddr.handle()).unwrap();
    let (now, later) = (Instant::ZERO, Instant::ZERO + Duration::from_micros(10));
    role.handle_message(now, 2, Bytes::from_static(b"abcdefghijkl7890")).unwrap();
    let message = Bytes::from_static(b"ghijklabcdef7890");
    assert_eq!(role.poll(now), Some(RoleOutput::Message { stream: 2, message }));
    assert_eq!(role.next_deadline(), Some(later));
    role.handle_timeout(later);
    assert_eq!(role.poll(later), Some(RoleOutput::Event(b'7'.into())));
}

#[test]
fn a_role_with_too_many_constants_is_refused() {
    let c = "#include <rackloom.h>\nstatic volatile u8 big[1000 << 10];\n\
             RL_KERNEL(k)(u64 x, u64 i) { return big[x + i]; }\n";
    let error = prepare(build_role(&source("big", c), &Options::default()).unwrap()).unwrap_err();
    assert!(matches!(error, RoleError::Memory(_)), "{error}");
    // A C stack that overflows traps.
    let c = "#include <rackloom.h>\n\
             static u64 deep(volatile u8 *p, u64 n) { volatile u8 a[4096]; a[n % 4096] = p[0]; \
             return n ? deep(a, n - 1) + a[5] : a[n]; }\n\
             RL_KERNEL(k)(u64 x, u64 i) { u8 a[1] = {0}; return deep(a, i) + x; }\n";
    let ddr = Ddr::new(4 << 20).unwrap();
    let image = build_role(&source("deep", c), &Options::default()).unwrap();
    let mut role = prepare(image).unwrap().activate(&ddr.handle()).unwrap();
    role.start(0, &[0, 100], 0).unwrap();
    assert!(matches!(role.step(), Step::Failed { fault: rackloom_role::RoleFault::Trap, .. }));
}
