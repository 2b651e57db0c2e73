//! What an attendant reports about its board.

use crate::api::Tenant;

/// What an attendant reports. The registry's thread calls the handler, which must not block.
#[derive(Debug)]
pub enum Event {
    /// The board is registered; for the first time, or again.
    Registered,
    /// The registry is away or refuses; the attendant retries. Reported once for each way of failing.
    Failing(String),
    /// The registry answers again.
    Back,
    /// Everybody who may use the board from now on, and nobody else may.
    Tenants(Vec<Tenant>),
}

/// The handler of an attendant's events.
pub(crate) type Handler = Box<dyn Fn(Event) + Send + Sync>;
