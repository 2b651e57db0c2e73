//! Makes cards of any kind from one configuration.

use std::sync::{Arc, OnceLock};

use rackloom_card::{Card, Config, ConfigError, FlashConfig, PortService};
use rackloom_role::Sandbox;
use rackloom_sandbox::WasmSandbox;
use rackloom_verilated::RtlCard;

use crate::topology::PORTS_MAX;
use crate::{AnyCard, Kind};

/// Makes cards. All model cards of a maker share a sandbox, which compiles each image once.
#[derive(Debug, Clone)]
pub struct Maker {
    sandbox: Arc<dyn Sandbox>,
}

impl Maker {
    /// Model cards will run their roles in this sandbox.
    pub fn new(sandbox: Arc<dyn Sandbox>) -> Self {
        Self { sandbox }
    }

    /// With the one WebAssembly sandbox of this process.
    pub fn shared() -> Self {
        static SANDBOX: OnceLock<Arc<WasmSandbox>> = OnceLock::new();
        let sandbox: &Arc<WasmSandbox> = SANDBOX.get_or_init(|| Arc::new(WasmSandbox::default()));
        Self::new(Arc::clone(sandbox) as Arc<dyn Sandbox>)
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Arc<dyn Sandbox> {
        &self.sandbox
    }

    /// A card of this kind that is about to be switched on. The kind that the configuration announces is set, and
    /// its longest frame is brought within what the kind takes.
    ///
    /// # Errors
    /// If the configuration is out of range, asks for more ports than the kind has, or the memory cannot be reserved.
    pub fn make(&self, kind: Kind, config: Config) -> Result<AnyCard, ConfigError> {
        let links = config.ports.iter().filter(|port| port.service == PortService::Link).count();
        let ports = if kind == Kind::Rtl { PORTS_MAX } else { kind.ports_max() };
        if links > usize::from(kind.links_max()) || config.ports.len() >= usize::from(ports) {
            return Err(ConfigError::Range { field: "ports" });
        }
        let config = Config { kind: kind.announced(), bulk: config.bulk.min(kind.bulk_max()), ..config };
        Ok(match kind {
            Kind::Model => AnyCard::Model(Box::new(Card::new(config, Arc::clone(&self.sandbox))?)),
            Kind::Flash => {
                let (flash, config_rate) = (Some(FlashConfig::BOARD), FlashConfig::BOARD_RATE);
                let config = Config { flash, config_rate, ..config };
                AnyCard::Model(Box::new(Card::new(config, Arc::clone(&self.sandbox))?))
            }
            Kind::Rtl => {
                let usual = rackloom_verilated::Config::new(config.mac, config.pace);
                AnyCard::Rtl(Box::new(RtlCard::new(rackloom_verilated::Config { card: config, ..usual })?))
            }
        })
    }
}
