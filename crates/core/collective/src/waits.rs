//! Which waits of a program need not wait for what it sends.

use std::ops::Range;

use crate::program::Command;

/// Has a program wait for what it takes alone, wherever nothing changes what it sends before that has come for sure: by
/// a wait for all, or because the next message over that link goes only then.
pub(crate) fn relax(program: &mut [Command]) {
    let mut sent = Sent::default();
    for at in 0..program.len() {
        match program[at] {
            Command::Wait if sent.stays(&program[at + 1..]) => program[at] = Command::WaitTakes,
            Command::Wait => sent = Sent::default(),
            command => sent.put(&command),
        }
    }
}

/// Bytes of each link's last message that may be under way.
#[derive(Debug, Clone, Default)]
struct Sent(Vec<(u8, Range<u64>)>);

impl Sent {
    fn put(&mut self, command: &Command) {
        if let Command::Put { link, addr, length, .. } = *command {
            self.0.retain(|(port, _)| *port != link);
            if length > 0 {
                self.0.push((link, addr..addr + u64::from(length)));
            }
        }
    }

    /// Whether these commands leave it as it is until the next wait. Behind the last command anything may come.
    fn stays(&self, commands: &[Command]) -> bool {
        let mut sent = self.clone();
        for command in commands {
            let to = match *command {
                Command::Wait => return true,
                Command::Take { addr, .. } => addr,
                Command::Copy { to, .. } | Command::Reduce { to, .. } | Command::Survey { to } => to,
                Command::Put { .. } | Command::WaitTakes => {
                    sent.put(command);
                    continue;
                }
            };
            if sent.0.iter().any(|(_, bytes)| to < bytes.end && bytes.start < to + command.bytes()) {
                return false;
            }
        }
        sent.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn put(link: u8, addr: u64, length: u32) -> Command {
        Command::Put { link, tag: 0, addr, length }
    }

    const fn take(link: u8, addr: u64) -> Command {
        Command::Take { link, tag: 0, addr, length: 8 }
    }

    /// Which of its waits are for takes alone.
    fn relaxed(program: &[Command]) -> Vec<bool> {
        let mut program = program.to_vec();
        relax(&mut program);
        let waits = program.into_iter().filter(|command| matches!(command, Command::Wait | Command::WaitTakes));
        waits.map(|command| command == Command::WaitTakes).collect()
    }

    #[test]
    fn what_is_sent_stays_until_it_is_there() {
        let wait = Command::Wait;
        assert_eq!(relaxed(&[put(1, 0, 0), wait]), [true], "a signal has no bytes");
        assert_eq!(relaxed(&[put(1, 0, 8), wait]), [false], "nobody knows what comes then");
        // The second wait is for all.
        let copy = |from, to| Command::Copy { from, to, length: 8 };
        assert_eq!(relaxed(&[put(1, 0, 8), wait, copy(0, 8), wait]), [true, false]);
        for changed in [copy(8, 7), take(2, 7), take(1, 1)] {
            assert_eq!(relaxed(&[put(1, 0, 8), wait, changed, wait]), [false, true], "{changed:?}");
        }
        // Who may send over a link again knows that the last message is there, and of other links not.
        let again = |link| [put(1, 0, 8), wait, put(link, 16, 8), take(2, 0), wait];
        assert_eq!((relaxed(&again(1)), relaxed(&again(2))), (vec![true, false], vec![false, false]));
        // What one wait has left under way counts for the next.
        let later = [put(1, 0, 8), wait, take(2, 16), wait, copy(16, 0), wait];
        assert_eq!(relaxed(&later), [true, false, true]);
    }
}
