//! Where pages come from.

/// Bytes of a source: an offset and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Of the first byte.
    pub offset: u64,
    /// How many; not 0.
    pub length: usize,
}

/// What is behind a range of pages. Its calls may take long, and have to end: whoever touches a page waits for them.
pub trait Source: Send + Sync + 'static {
    /// Why bytes could not be fetched or stored.
    type Error: std::error::Error + Send + 'static;

    /// Reads several spans, each of which has a result of its own: all are wanted at the same time.
    fn fetch(&self, spans: &[Span]) -> Vec<Result<Vec<u8>, Self::Error>>;

    /// Writes bytes at these offsets, which are in ascending order and do not touch each other.
    ///
    /// # Errors
    /// Some may not have been written; they are given again with the next call.
    fn store(&self, writes: Vec<(u64, Vec<u8>)>) -> Result<(), Self::Error>;
}
