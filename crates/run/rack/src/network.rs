//! A switch of this process, served to others.

use std::io;

use rackloom_live::segment::{SegmentError, SegmentPath, SegmentServer};
use rackloom_live::{MTU_JUMBO, Net, Raw, RawError, Switch, SwitchError, Uplink, Wire};

/// A network that a rack's cards will be on, before it is served.
#[derive(Debug)]
pub struct Network {
    net: Net,
    raw: Option<Raw>,
}

/// Serves a switch as a network: to processes of this user as a virtual segment and, if it is an interface's, by way of
/// the interface. Dropping it takes the segment down.
#[derive(Debug)]
pub struct ServedNetwork {
    net: Net,
    uplink: Option<Uplink>,
    server: SegmentServer,
}

/// Why a network cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The interface cannot be used.
    #[error("cannot use {net}")]
    Interface {
        /// The network.
        net: Net,
        /// The reason.
        source: RawError,
    },
    /// The segment cannot be served.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The switch has no free port for the interface.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// No thread can be started.
    #[error("cannot start the uplink to {net}")]
    Uplink {
        /// The network.
        net: Net,
        /// The reason.
        source: io::Error,
    },
}

impl Network {
    /// Opens the network's interface, if it is one's.
    ///
    /// # Errors
    /// [`NetworkError::Interface`].
    pub fn open(net: &Net) -> Result<Self, NetworkError> {
        let raw = net.interface().map(Raw::open).transpose();
        let raw = raw.map_err(|source| NetworkError::Interface { net: net.clone(), source })?;
        Ok(Self { net: net.clone(), raw })
    }

    /// Longest payload of an Ethernet frame, bytes.
    pub fn mtu(&self) -> usize {
        self.raw.as_ref().map_or(MTU_JUMBO, Wire::mtu)
    }

    /// Serves `switch`, to at most `clients` processes at a time.
    ///
    /// # Errors
    /// The segment is served already, or the operating system refuses.
    pub fn serve(self, switch: &Switch, clients: usize) -> Result<ServedNetwork, NetworkError> {
        let server = SegmentServer::spawn(segment_of(&self.net)?, switch.clone(), clients)?;
        let uplink = match self.raw {
            Some(raw) => {
                let uplink = Uplink::spawn(switch.attach("uplink")?, raw);
                Some(uplink.map_err(|source| NetworkError::Uplink { net: self.net.clone(), source })?)
            }
            None => None,
        };
        Ok(ServedNetwork { net: self.net, uplink, server })
    }
}

impl ServedNetwork {
    /// The network.
    pub const fn net(&self) -> &Net {
        &self.net
    }

    /// The virtual segment as which it is served.
    pub const fn segment(&self) -> &SegmentPath {
        self.server.path()
    }

    /// Frames that the interface dropped although its MTU allows them, in words, if there are any.
    pub fn trouble(&self) -> Option<String> {
        self.uplink.as_ref().and_then(|uplink| uplink.refused().in_words())
    }

    /// Why the interface is gone, if it is. Reported once.
    pub fn failure(&self) -> Option<io::Error> {
        self.uplink.as_ref().and_then(Uplink::failure)
    }
}

/// The virtual segment that stands for a network: an interface has one too, for the cards of the process that serves
/// it.
///
/// # Errors
/// As [`SegmentPath::named`].
pub fn segment_of(net: &Net) -> Result<SegmentPath, SegmentError> {
    match net {
        Net::Segment(name) => SegmentPath::named(name),
        Net::Ethernet(interface) => {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            SegmentPath::named(&format!("eth-{}", interface.chars().map(plain).collect::<String>()))
        }
    }
}
