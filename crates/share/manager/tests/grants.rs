//! What the registry grants an instance besides its board holds there: how long its kernels may keep others waiting.

mod common;
#[path = "common/go.rs"]
mod go;
#[path = "common/isolating.rs"]
mod isolating;
#[path = "common/site.rs"]
mod site;

use std::time::{Duration, Instant};

use common::Tenant;
use isolating::{HANG, counts_to, with_kernels};
use rackloom_ipc::Endpoint;
use rackloom_manager::installed;
use rackloom_opencl_wire::Argument;
use site::{Site, until};

/// A client that has the board; it is waited for.
fn open(site: &Site, token: [u8; 32]) -> Tenant {
    let to = Endpoint::Unix(site.socket("n"));
    let mut found = None;
    until("the token opens a board", || {
        found = Tenant::try_greeting(&to, token).map(drop).and_then(|()| Tenant::try_opening(&to, token));
        found.is_some()
    });
    found.unwrap()
}

/// It keeps the board for good, as far as it is up to it.
fn hangs(t: &Tenant) {
    t.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn the_registry_says_how_long_kernels_may_keep_others_waiting() {
    let site = Site::new(&[]);
    let library = installed().into_iter().find(|library| library.to_string_lossy().contains("pocl"));
    let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    let quotas = ["--memory", "67108864", "--objects", "64", "--operations", "256", "--program", "1048576"];
    let options = ["--runtime", library.to_str().unwrap(), "--stall-time", "3s"];
    let manager = site.manager("n", &[&options[..], &quotas].concat());
    until("registered", || site.are_online(1));
    site.say(&["function", "short", "--longest-kernel", "300ms"]);
    site.say(&["function", "any"]);
    let told = site.say(&["functions"]);
    assert!(told.contains("300ms") && told.contains("KERNEL"), "{told}");
    let tokens = [site.allocate("short", "s-1"), site.allocate("any", "a-1")];
    let [short, any] = tokens.map(|token| open(&site, token));
    [&short, &any].into_iter().for_each(with_kernels);
    hangs(&short);
    let start = Instant::now();
    counts_to(&any, 1);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(2), "it was granted 0.3 s: {took:?}");
    short.ended();
    assert!(manager.words().contains("s-1 has kept others waiting for 0.3 s"), "{}", manager.words());
    // Another grant counts for programs that connect from then on; without one it is the manager's to say.
    site.say(&["function", "short"]);
    let short = open(&site, tokens[0]);
    with_kernels(&short);
    hangs(&short);
    let start = Instant::now();
    counts_to(&any, 2);
    let took = start.elapsed();
    assert!((Duration::from_millis(2500)..Duration::from_secs(8)).contains(&took), "{took:?}");
}
