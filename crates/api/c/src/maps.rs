//! The mappings of this process.

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex};

use rackloom::{Error, Mapping, Net, NetError, Rma, RmaOptions, insecure_open_by_environment};
use rackloom_sync::lock;

use crate::given::{GIVEN, NODE, Window};

/// Why a call of the library fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The node, the network or the system refuses.
    Refused(Error),
    /// An argument, or a variable of the environment, is not what it has to be.
    Invalid(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Invalid(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(error) => error.source(),
            Self::Invalid(_) => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// By first address. Each holds the node.
static MAPS: Mutex<BTreeMap<usize, Arc<Mapping>>> = Mutex::new(BTreeMap::new());
/// The node of the mappings, while there are any.
static RMA: Mutex<Option<Arc<Rma>>> = Mutex::new(None);

/// Maps a window; where it is.
pub(crate) fn map(window: Window) -> Result<*mut u8, Failure> {
    let rma = {
        let mut rma = lock(&RMA);
        match &*rma {
            Some(rma) => Arc::clone(rma),
            None => Arc::clone(rma.insert(Arc::new(connect()?))),
        }
    };
    let mapping = rma.map(window.node, window.base, window.length, window.access);
    let mapping = mapping.inspect_err(|_| release());
    let mapping = Arc::new(mapping?);
    let at = mapping.as_ptr();
    lock(&MAPS).insert(at.addr(), mapping);
    Ok(at)
}

fn connect() -> Result<Rma, Failure> {
    let net = env::var("RACKLOOM_NET").unwrap_or_else(|_| "virtual".to_owned());
    let net = net.parse::<Net>().map_err(|e: NetError| Error::from(e))?;
    let mac = match env::var(NODE) {
        Ok(text) => Some(text.parse().map_err(|_| Failure::Invalid(format!("{NODE} is no address: `{text}`")))?),
        Err(_) => None,
    };
    let insecure_open = insecure_open_by_environment();
    Ok(Rma::connect(&net, RmaOptions { mac, insecure_open, ..RmaOptions::default() })?)
}

/// The window that this process was given.
pub(crate) fn given() -> Result<Window, Failure> {
    let text = env::var(GIVEN).map_err(|_| {
        Failure::Invalid(format!("{GIVEN} is not set: start the program with `rackloom rma map CARD -- PROGRAM`"))
    })?;
    text.parse().map_err(|()| Failure::Invalid(format!("{GIVEN} names no window: `{text}`")))
}

/// The mapping at an address.
pub(crate) fn at(addr: usize) -> Result<Arc<Mapping>, Failure> {
    lock(&MAPS).get(&addr).map(Arc::clone).ok_or_else(|| Failure::Invalid(format!("nothing is mapped at {addr:#x}")))
}

/// Ends a mapping.
pub(crate) fn unmap(addr: usize) -> Result<(), Failure> {
    let mapping = at(addr)?;
    let synced = mapping.sync();
    lock(&MAPS).remove(&addr);
    drop(mapping);
    release();
    Ok(synced?)
}

/// Lets go of the node if nothing is mapped.
fn release() {
    let maps = lock(&MAPS);
    if maps.is_empty() {
        let rma = lock(&RMA).take();
        drop(maps);
        drop(rma);
    }
}
