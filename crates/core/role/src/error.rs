//! What can be wrong with a part, or with a request to a role.

/// Why a role cannot be prepared, activated or started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoleError {
    /// The part is no valid module, or uses something that a role may not.
    #[error("invalid module: {0}")]
    Module(String),
    /// The part is larger than a sandbox compiles.
    #[error("{what}: {found}, more than the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much of it.
        found: u64,
        /// How much there may be.
        limit: u64,
    },
    /// The part imports something other than the card's memory and `rackloom.charge`.
    #[error("import `{module}.{name}` is not one that a role gets: {why}")]
    Import {
        /// First name of the import.
        module: String,
        /// Second name of the import.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The part lacks a kernel of the manifest.
    #[error("kernel `{kernel}` is not a function (i64 x {args}) -> i64 that the part exports")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// Arguments in the manifest.
        args: usize,
    },
    /// The role does not fit into the card's memory, or into the part of it that is its own.
    #[error("memory: {0}")]
    Memory(String),
    /// The role has no kernel of this number.
    #[error("no kernel has number {kernel}; the role has {kernels}")]
    UnknownKernel {
        /// The number asked for.
        kernel: usize,
        /// Kernels there are.
        kernels: usize,
    },
    /// The number of arguments is not the kernel's.
    #[error("kernel `{kernel}` takes {takes} arguments, not {given}")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// Arguments it takes.
        takes: usize,
        /// Arguments given.
        given: usize,
    },
    /// A kernel runs already.
    #[error("a kernel is running")]
    Running,
    /// The host is out of memory or address space: no fault of the image.
    #[error("the engine cannot run the role: {0}")]
    Engine(String),
}

impl RoleError {
    /// The protocol's error code for this, as tools print it.
    pub fn code_name(&self) -> &'static str {
        match self {
            Self::Module(_) | Self::Limit { .. } | Self::Import { .. } | Self::Kernel { .. } => "image-part",
            Self::Memory(_) => "image-memory",
            Self::UnknownKernel { .. } => "unknown-kernel",
            Self::Arguments { .. } => "bad-arguments",
            Self::Running | Self::Engine(_) => "busy",
        }
    }
}
