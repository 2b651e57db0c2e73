//! What a client hears that does not get a board, since somebody has that for itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use rackloom_ipc::{Client, ClientConfig, Closed, Endpoint, Handler, ServerConfig};
use rackloom_opencl_wire::{Answer, COMMAND, Command, Limits, Reply, VERSION, decode_reply, encode_command};
use rackloom_registry_client::Tenant;
use rackloom_sync::lock;

use super::Manager;
use crate::access::admission::Admission;
use crate::access::allowlist::Allowlists;
use crate::access::limits::EndpointLimits;
use crate::board::paced::{Pace, PacedBoard};
use crate::schedule::scheduler::Policy;

const LIMITS: Limits = Limits { memory: 1 << 20, objects: 16, operations: 16, program: 1 << 10 };

#[derive(Default)]
struct Heard {
    answers: Vec<Result<Answer, i32>>,
    farewell: Option<String>,
    is_closed: bool,
}

struct Hearing(Arc<Mutex<Heard>>);

impl Handler for Hearing {
    fn message(&self, _: u32, body: &[u8]) {
        match decode_reply(body).unwrap().0 {
            Reply::Answer { answer, .. } => lock(&self.0).answers.push(answer),
            Reply::Farewell { reason } => lock(&self.0).farewell = Some(reason),
            Reply::Done { .. } | Reply::Printed { .. } => panic!("it has enqueued nothing"),
        }
    }

    fn closed(&self, _: Closed) {
        lock(&self.0).is_closed = true;
    }
}

/// Greets and opens the first board; then it has a session, or has heard why not.
fn open(to: &Endpoint, token: u8) -> (Client, Arc<Mutex<Heard>>) {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let config = ClientConfig { token: [token; 32], ..ClientConfig::default() };
    let client = Client::connect(to, &config, Box::new(Hearing(Arc::clone(&heard)))).unwrap();
    for command in
        [Command::Hello { request: 1, version: VERSION, name: "test" }, Command::Open { request: 2, board: 0 }]
    {
        let mut bytes = Vec::new();
        encode_command(&command, &[], &mut bytes);
        client.send(COMMAND, &bytes).unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    let is_settled = |heard: &Heard| heard.answers.get(1).is_some_and(|open| *open == Ok(Answer::Open));
    while !is_settled(&lock(&heard)) && !lock(&heard).is_closed {
        assert!(Instant::now() < deadline, "it is not answered");
        std::thread::sleep(Duration::from_millis(1));
    }
    (client, heard)
}

#[test]
fn who_is_kept_out_hears_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let manager = Manager::default();
    let pace = Pace { kernels: BTreeMap::new(), rate: 1e9 };
    manager.add(PacedBoard::accelerator("paced", pace), Policy::Fair).unwrap();
    let allowlists = Arc::new(Allowlists::new(LIMITS.into()));
    let allowlist = allowlists.of(0);
    let tenant = |instance: &str, token: &str, exclusive| Tenant {
        instance: instance.into(),
        token: token.repeat(32),
        exclusive,
        ..Tenant::default()
    };
    allowlist.renew(&[tenant("x", "33", true), tenant("a", "11", false)]);
    let terms = EndpointLimits { admission: Admission::Registry(allowlists), ..LIMITS.into() };
    let to = Endpoint::Unix(folder.path().join("manager.sock"));
    let listener = manager.listen(&to, ServerConfig::default(), terms).unwrap();
    let kept_out = |token, why: &str| {
        let (_client, heard) = open(listener.endpoint(), token);
        let heard = lock(&heard);
        assert_eq!(heard.answers[1], Err(CL_DEVICE_NOT_AVAILABLE));
        assert!(heard.farewell.as_ref().is_some_and(|heard| heard.contains(why)), "{:?}", heard.farewell);
    };
    let (alone, heard) = open(listener.endpoint(), 0x33);
    assert!(!lock(&heard).is_closed);
    kept_out(0x11, "another tenant has this board for itself; try again");
    drop(alone);
    let (_shared, heard) = open(listener.endpoint(), 0x11);
    assert!(!lock(&heard).is_closed, "the board is free");
    kept_out(0x33, "others have not left it yet; try again");
}
