//! Groups of real processes. Each test starts this program again, once for each rank, which does what its part says.
#![allow(missing_docs)]

mod losses;
mod operations;
mod strangers;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rackloom_hosts::{HostGroup, Secret, Start};

/// A test, and what each of its ranks does.
type Part = fn(&Start);
const TESTS: [(&str, fn(), Part); 14] = [
    ("operations_are_as_computed", operations::test, operations::part),
    ("groups_split_and_are_freed_again_and_again", operations::split_test, operations::split_part),
    ("who_does_something_else_is_named", losses::differs_test, losses::differs_part),
    ("who_does_not_come_is_named_when_the_time_is_over", losses::late_test, losses::late_part),
    ("a_killed_rank_is_named_soon_and_the_others_go_on", losses::killed_test, losses::killed_part),
    ("a_stopped_rank_is_named_and_the_others_go_on", losses::stopped_test, losses::stopped_part),
    ("who_waits_for_a_stopped_rank_is_not_named_for_it", losses::chain_test, losses::chain_part),
    ("who_leaves_early_is_named", losses::left_test, losses::left_part),
    ("who_is_killed_anywhere_stops_nobody_for_long", losses::anywhere_test, losses::anywhere_part),
    ("what_one_has_done_before_it_ended_is_there", losses::done_test, losses::done_part),
    ("strangers_do_not_get_in_and_hold_nobody_up", strangers::test, strangers::part),
    ("an_open_folder_is_no_place_to_meet", strangers::folder_test, strangers::none),
    ("another_user_can_neither_meet_nor_read", strangers::user_test, strangers::user_part),
    ("ranks_that_do_not_come_are_counted", strangers::missing_test, strangers::none),
];

fn main() {
    if let (Ok(test), Ok(start)) = (std::env::var("PART"), Start::from_env()) {
        let part = TESTS.iter().find(|(name, ..)| *name == test).expect("a test of this name").2;
        return part(&start);
    }
    let wanted: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if std::env::args().any(|argument| argument == "--list") {
        return TESTS.iter().for_each(|(name, ..)| println!("{name}: test"));
    }
    for (name, test, _) in TESTS.iter().filter(|t| wanted.is_empty() || wanted.iter().any(|w| t.0.contains(w.as_str())))
    {
        let began = Instant::now();
        test();
        println!("test {name} ... ok, {:.1} s", began.elapsed().as_secs_f64());
    }
}

/// Processes of a start, killed when dropped.
pub(crate) struct Ranks {
    folder: tempfile::TempDir,
    secret: Secret,
    pub(crate) children: Vec<Child>,
}

impl Ranks {
    pub(crate) fn of(test: &str, size: usize, change: impl Fn(&mut Start)) -> Self {
        let mut made = Self::empty();
        for rank in 0..size {
            let mut start = made.start(rank, size);
            change(&mut start);
            made.children.push(Self::spawn(test, &start));
        }
        made
    }

    pub(crate) fn empty() -> Self {
        let own = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(own).tempdir().unwrap();
        Self { folder, secret: Secret::random().unwrap(), children: Vec::new() }
    }

    pub(crate) fn start(&self, rank: usize, size: usize) -> Start {
        Start::new(rank, size, self.meet(), self.secret.clone())
    }

    pub(crate) fn meet(&self) -> PathBuf {
        self.folder.path().join("meet")
    }

    pub(crate) fn spawn(test: &str, start: &Start) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("PART", test).envs(start.to_env()).spawn().unwrap()
    }

    /// Waits until all have ended, but no longer than this.
    pub(crate) fn ends(mut self, limit: Duration) -> Vec<ExitStatus> {
        let end = Instant::now() + limit;
        let ended = |child: &mut Child| loop {
            match child.try_wait().unwrap() {
                Some(status) => return status,
                None => assert!(Instant::now() < end, "rank has not ended within {limit:?}: {}", child.id()),
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        self.children.iter_mut().map(ended).collect()
    }

    pub(crate) fn succeed(self) {
        let ends = self.ends(Duration::from_secs(60));
        assert!(ends.iter().all(ExitStatus::success), "{ends:?}");
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn join(start: &Start) -> HostGroup {
    HostGroup::join(start).unwrap_or_else(|e| panic!("rank {}: {e}", start.rank))
}
