//! Kernels that fill the disk.

use rackloom_opencl_wire::Argument;

use crate::calls::{ROOM, call, load};
use crate::common::Tenant;
use crate::isolating::walk;
use crate::siege::Siege;

/// Makes files in the folder whose path is at 256, of which `x[0]` is the length: `x[1]` with bytes, which are `x[2]`
/// in all, and `x[3]` empty ones.
const FILL: &str = "
    long next(global long *x, long *number) {
        global char *end = (global char *)x + 256 + x[0];
        long n = (*number)++;
        end[0] = '/';
        for (int i = 6; i > 0; i--, n /= 10) end[i] = '0' + n % 10;
        end[7] = 0;
        return sys(257, -100, (long)x + 256, 0x41, 0600, 0, 0);
    }
    kernel void fill(global long *x) {
        long number = 0, file, most = 1L << 26;
        while (most >= 4096 && (file = next(x, &number)) >= 0) {
            while (most >= 4096 && sys(285, file, 0, 0, most, 0, 0) < 0) most /= 2;
            if (most >= 4096) { x[1]++; x[2] += most; }
            sys(3, file, 0, 0, 0, 0, 0);
        }
        while (x[3] < 200000 && (file = next(x, &number)) >= 0) {
            x[3]++;
            sys(3, file, 0, 0, 0, 0, 0);
        }
    }
";

#[test]
fn files_without_end() {
    Siege::each(|siege| {
        if siege.lacks("bounded folders") {
            eprintln!("not tried: its folder is on the disk, and this would fill it");
            return;
        }
        let attacker = siege.attacker();
        load(&attacker, FILL, "call");
        let path = siege.worker_folders().into_iter().find(|folder| {
            let path = format!("{}/own\0", folder.display());
            let flags = (libc::O_CREAT | libc::O_WRONLY).into();
            let at = [libc::AT_FDCWD.into(), ROOM, flags, 0o600];
            call(&attacker, libc::SYS_openat, at, 2, path.as_bytes()) >= 0
        });
        let path = path.expect("one of the folders is its own");
        // The kernel that fills takes the place of the one that calls.
        let length = path.as_os_str().len() as u64;
        attacker.send(&rackloom_opencl_wire::Command::CreateKernel { kernel: 10, program: 9, name: "fill" }, &[]);
        assert_eq!(attacker.write(9, 0, &[length, 0, 0, 0].map(u64::to_le_bytes).concat()).status, 0);
        assert_eq!(attacker.run(Tenant::launch(10, 1, vec![(0, Argument::Buffer(Some(9)))]), &[]).status, 0);
        let words = attacker.read(9, 8, 24).tail;
        let [files, bytes, empty] =
            std::array::from_fn(|at| u64::from_le_bytes(words[8 * at..][..8].try_into().unwrap()));
        eprintln!("{bytes} bytes in {files} files, {empty} empty ones");
        assert!((1 << 20..=512 << 20).contains(&bytes), "{bytes} bytes");
        assert!(empty > 1000 && files + empty <= 65_536, "{empty} empty files");
        let seen: Vec<_> = walk(&path).collect();
        assert!(seen.is_empty(), "on the disk: {seen:?}");
        siege.is_served();
    });
}
