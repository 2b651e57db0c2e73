//! What makes processes ranks of one start: how many there are, where they meet, and a secret that others do not know.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::HostError;
use crate::chance::random;
use crate::segment::RANKS_MAX;

/// What only the processes of one start know.
#[derive(Clone)]
pub struct Secret(pub(crate) [u8; 32]);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        random(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// As the environment has it: 64 digits.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A rank of a start that is to join the others.
#[derive(Debug, Clone)]
pub struct Start {
    /// This process's rank.
    pub rank: usize,
    /// Ranks.
    pub size: usize,
    /// The socket at which they meet, in a folder that is this user's alone.
    pub meet: PathBuf,
    /// What all of them know.
    pub secret: Secret,
    /// How long they wait for each other.
    pub patience: Duration,
    /// How long an operation may take.
    pub limit: Duration,
    /// Whether ranks may read long messages in each other's memory. All have the same: where one does not, none does.
    pub is_direct: bool,
}

impl Start {
    /// The place to meet.
    pub const MEET: &str = "RACKLOOM_MEET";
    /// The secret.
    pub const SECRET: &str = "RACKLOOM_MEET_SECRET";
    /// The number of ranks.
    pub const SIZE: &str = "RACKLOOM_HOSTS";
    /// The process's rank.
    pub const RANK: &str = "RACKLOOM_HOST_RANK";
    /// `0`: ranks read nothing in each other's memory.
    pub const DIRECT: &str = "RACKLOOM_HOST_DIRECT";
    /// How long ranks wait for each other, and how long an operation may take, unless the program says otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(30);
    /// See [`PATIENCE`](Self::PATIENCE).
    pub const LIMIT: Duration = Duration::from_secs(60);

    /// As `rackloom comm run --hosts` says it in the environment. Where another launcher starts the ranks, its own
    /// variables have rank and size (Open MPI's, PMI's, Slurm's), and `RACKLOOM_MEET` and `RACKLOOM_MEET_SECRET` must
    /// be set for all.
    ///
    /// # Errors
    /// [`HostError::Start`] says which variable is missing or wrong.
    pub fn from_env() -> Result<Self, HostError> {
        let text = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
        let missing =
            |name: &str| HostError::Start(format!("{name} is not set: start with `rackloom comm run --hosts`"));
        let number = |names: [&str; 4]| {
            let (name, text) = names.iter().find_map(|n| Some((*n, text(n)?))).ok_or_else(|| missing(names[0]))?;
            let wrong = |_| HostError::Start(format!("{name} is `{text}`, an invalid number: write digits"));
            text.parse::<usize>().map_err(wrong)
        };
        let rank = number([Self::RANK, "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"])?;
        let size = number([Self::SIZE, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"])?;
        let meet = PathBuf::from(text(Self::MEET).ok_or_else(|| missing(Self::MEET))?);
        let secret = text(Self::SECRET).ok_or_else(|| missing(Self::SECRET))?;
        let wrong = || HostError::Start(format!("{} has not 64 digits", Self::SECRET));
        let secret = Secret::from_hex(&secret).ok_or_else(wrong)?;
        let is_direct = text(Self::DIRECT).is_none_or(|text| text != "0");
        let start = Self { is_direct, ..Self::new(rank, size, meet, secret) };
        start.check()?;
        Ok(start)
    }

    /// A rank of a start, with the usual times.
    pub const fn new(rank: usize, size: usize, meet: PathBuf, secret: Secret) -> Self {
        Self { rank, size, meet, secret, patience: Self::PATIENCE, limit: Self::LIMIT, is_direct: true }
    }

    /// The variables that say it to a process.
    pub fn to_env(&self) -> [(&'static str, String); 5] {
        [
            (Self::RANK, self.rank.to_string()),
            (Self::SIZE, self.size.to_string()),
            (Self::MEET, self.meet.display().to_string()),
            (Self::SECRET, self.secret.to_hex()),
            (Self::DIRECT, u8::from(self.is_direct).to_string()),
        ]
    }

    pub(crate) fn check(&self) -> Result<(), HostError> {
        if !(1..=RANKS_MAX).contains(&self.size) {
            return Err(HostError::Start(format!("{} ranks: a start has 1 to {RANKS_MAX}", self.size)));
        }
        if self.rank >= self.size {
            return Err(HostError::Start(format!("rank {} is not in a start of {}", self.rank, self.size)));
        }
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.meet.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_comes_back_from_its_digits_and_is_not_shown() {
        let secret = Secret::random().unwrap();
        assert_eq!(Secret::from_hex(&secret.to_hex()).unwrap().0, secret.0);
        assert_ne!(Secret::random().unwrap().0, secret.0);
        for wrong in ["", &"g".repeat(64), &"a".repeat(63), &"ä".repeat(32)] {
            assert!(Secret::from_hex(wrong).is_none(), "{wrong}");
        }
        assert!(!format!("{secret:?}").contains(&secret.to_hex()[..8]));
    }
}
