//! Which process is the host that holds a card.
//!
//! A host's address is random, so it tells a person nothing. Each command writes down what it is under its address, in
//! this user's run directory, and takes that away when it ends. Of a host of another machine or user nothing is known.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rackloom::{Error, MacAddr, Net, OpError};
use rackloom_live::segment::SegmentPath;
use rackloom_rack::segment_of;

/// What this process has written down; taken away when dropped.
#[derive(Debug)]
pub(crate) struct Holder(PathBuf);

impl Holder {
    /// Says that this process is the host of this address. Without a place to say so, it goes without saying.
    pub(crate) fn tell(net: &Net, host: MacAddr) -> Option<Self> {
        let path = file(&segment_of(net).ok()?.hosts().ok()?, host);
        let command: Vec<_> = std::env::args().skip(1).take(COMMAND_WORDS).collect();
        fs::write(&path, format!("{}\nrackloom {}\n", std::process::id(), command.join(" "))).ok()?;
        Some(Self(path))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The holder that an error names, in words, if it is a process of this user.
pub(crate) fn of(error: &Error) -> Option<String> {
    let holder = match error {
        Error::Op(OpError::Claimed { holder, .. })
        | Error::NoCards { last: Some(OpError::Claimed { holder, .. }), .. } => *holder,
        _ => return None,
    };
    // All segments of a user have one run directory.
    describe(&SegmentPath::named("any").ok()?.hosts().ok()?, holder)
}

fn describe(hosts: &Path, host: MacAddr) -> Option<String> {
    let path = file(hosts, host);
    let mut text = String::new();
    File::open(&path).ok()?.take(RECORD_MAX).read_to_string(&mut text).ok()?;
    let (pid, command) = text.split_once('\n')?;
    let (pid, command) = (pid.parse::<u32>().ok()?, command.trim_end());
    if Path::new(&format!("/proc/{pid}")).exists() {
        return Some(format!("host {host} is process {pid}, `{command}`"));
    }
    let _ = fs::remove_file(path);
    Some(format!("host {host} was process {pid}, `{command}`, which has died: its lease runs out"))
}

fn file(hosts: &Path, host: MacAddr) -> PathBuf {
    hosts.join(host.to_string().replace(':', "-"))
}

/// Words of a command line that are written down: what it is, not with which files.
const COMMAND_WORDS: usize = 2;
/// Most bytes of a record that are read.
const RECORD_MAX: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

    #[test]
    fn a_process_is_named_while_it_lives_and_once_when_it_has_died() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(describe(dir.path(), HOST), None);
        let pid = std::process::id();
        fs::write(file(dir.path(), HOST), format!("{pid}\nrackloom run gemm\n")).unwrap();
        let text = format!("host 02:00:00:00:00:09 is process {pid}, `rackloom run gemm`");
        assert_eq!(describe(dir.path(), HOST), Some(text));
        // No process has a number beyond 2^22.
        fs::write(file(dir.path(), HOST), "4294967295\nrackloom load x\n").unwrap();
        assert!(describe(dir.path(), HOST).unwrap().contains("has died"));
        assert_eq!(describe(dir.path(), HOST), None);
    }

    #[test]
    fn what_is_no_record_names_nobody() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "12", "x\ny\n", "\n\n"] {
            fs::write(file(dir.path(), HOST), text).unwrap();
            assert_eq!(describe(dir.path(), HOST), None, "{text:?}");
        }
    }
}
