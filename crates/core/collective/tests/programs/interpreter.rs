//! Runs the programs of all ranks in memory.
//!
//! A message is done at any time after both ends have begun it, and its bytes are read no earlier. Where bytes come to
//! is spoilt as soon as they are awaited. So a program that uses bytes too early, or lets them change, gets wrong ones.

use rackloom_collective::{Command, Group, reduce};
use rackloom_node::Rng;

pub(crate) struct Ranks<'a> {
    group: &'a Group,
    pub(crate) memory: Vec<Vec<u8>>,
    rng: Rng,
    at: Vec<usize>,
    /// Tag, address and length of what is begun, by sender and receiver: of bytes one put, or two without any.
    puts: Vec<Vec<Vec<(u16, u64, u32)>>>,
    takes: Vec<Vec<Option<(u16, u64, u32)>>>,
}

impl<'a> Ranks<'a> {
    pub(crate) fn new(group: &'a Group, bytes: u64, seed: u64) -> Self {
        let n = group.size();
        Self {
            group,
            memory: vec![vec![0xee; bytes as usize]; n],
            rng: Rng::new(seed),
            at: vec![0; n],
            puts: vec![vec![Vec::new(); n]; n],
            takes: vec![vec![None; n]; n],
        }
    }

    pub(crate) fn run(&mut self, programs: &[Vec<Command>]) -> Result<(), String> {
        let n = programs.len();
        loop {
            // Ranks in an order drawn anew; each does some commands, and some of its messages are done.
            let first = self.rng.below(n as u64) as usize;
            let mut goes_on = false;
            for rank in (0..n).map(|i| (first + i) % n) {
                let most = 1 + self.rng.below(8);
                for _ in 0..most {
                    goes_on |= self.step(rank, &programs[rank])?;
                }
                for other in 0..n {
                    if self.rng.below(4) > 0 {
                        goes_on |= self.done(rank, other)?;
                    }
                }
            }
            if !goes_on && !(0..n).any(|a| (0..n).any(|b| self.meets(a, b).is_some())) {
                let ends = (0..n).all(|rank| self.at[rank] == programs[rank].len() && !self.has_begun(rank));
                return if ends { Ok(()) } else { Err(format!("ranks wait for each other at {:?}", self.at)) };
            }
        }
    }

    /// Executes a rank's next command, unless it has to wait.
    fn step(&mut self, rank: usize, program: &[Command]) -> Result<bool, String> {
        let Some(command) = program.get(self.at[rank]) else { return Ok(false) };
        let far = |port| self.group.at(rank, port).ok_or_else(|| format!("rank {rank} has no port {port}"));
        match *command {
            Command::Put { link, tag, addr, length } => {
                let begun = &mut self.puts[rank][far(link)?];
                let are_signals = length == 0 && begun.iter().all(|put| put.2 == 0);
                if begun.len() >= if are_signals { 2 } else { 1 } {
                    return Ok(false);
                }
                begun.push((tag, addr, length));
            }
            Command::Take { link, tag, addr, length } => {
                let begun = &mut self.takes[far(link)?][rank];
                if begun.is_some() {
                    return Ok(false);
                }
                *begun = Some((tag, addr, length));
                self.memory[rank][addr as usize..][..length as usize].fill(0xdd);
            }
            Command::Wait if self.has_begun(rank) => return Ok(false),
            Command::WaitTakes if self.takes.iter().any(|of| of[rank].is_some()) => return Ok(false),
            Command::Wait | Command::WaitTakes => {}
            Command::Copy { from, to, length } => {
                let (from, to, length) = (from as usize, to as usize, length as usize);
                self.memory[rank].copy_within(from..from + length, to);
            }
            Command::Reduce { op, datatype, from, to, .. } => {
                let length = command.bytes() as usize;
                let right = self.memory[rank][from as usize..][..length].to_vec();
                reduce(op, datatype, &mut self.memory[rank][to as usize..][..length], &right);
            }
            Command::Survey { .. } => return Err("a plan surveys nothing".into()),
        }
        self.at[rank] += 1;
        Ok(true)
    }

    fn has_begun(&self, rank: usize) -> bool {
        (0..self.at.len()).any(|other| !self.puts[rank][other].is_empty() || self.takes[other][rank].is_some())
    }

    /// Which put it is that the receiver takes.
    fn meets(&self, from: usize, to: usize) -> Option<usize> {
        let take = self.takes[from][to]?;
        self.puts[from][to].iter().position(|put| put.0 == take.0)
    }

    /// A message is done, if both ends have begun it.
    fn done(&mut self, from: usize, to: usize) -> Result<bool, String> {
        let Some(at) = self.meets(from, to) else { return Ok(false) };
        let (_, source, length) = self.puts[from][to].remove(at);
        let (_, dest, due) = self.takes[from][to].take().expect("both have begun it");
        if length != due {
            return Err(format!("rank {from} puts {length} bytes, and rank {to} takes {due}"));
        }
        let bytes = self.memory[from][source as usize..][..length as usize].to_vec();
        self.memory[to][dest as usize..][..length as usize].copy_from_slice(&bytes);
        Ok(true)
    }
}
