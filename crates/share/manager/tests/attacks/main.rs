//! Hostile programs against the manager that is shipped: whatever they do, it lives, serves their neighbours, and has
//! nothing left of them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/go.rs"]
mod go;
#[path = "../common/isolating.rs"]
mod isolating;
#[path = "../common/site.rs"]
mod site;

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod clients;
#[cfg(target_arch = "x86_64")]
mod disk;
mod groups;
#[cfg(target_arch = "x86_64")]
mod kernels;
mod memory;
mod metrics;
mod placed;
mod ports;
#[cfg(target_arch = "x86_64")]
mod processes;
mod quotas;
mod seats;
mod secured;
#[cfg(target_arch = "x86_64")]
mod siege;
#[cfg(target_arch = "x86_64")]
mod sources;
mod sweep;
#[cfg(target_arch = "x86_64")]
mod system;
mod tls;
#[cfg(target_arch = "x86_64")]
mod users;
