//! Many peers, in bounded memory.

use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport::{AckPolicy, Connection, ConnectionConfig, Delivery, Peers, PeersLimits};

const PEERS: usize = 256;
const STRANGERS: usize = 16;

/// What a bridge may spend on its peers: 1 MiB in all, for windows of 64 payloads of 8 bytes.
const BYTES_MAX: usize = 1 << 20;

fn config() -> ConnectionConfig {
    ConnectionConfig {
        first: 1,
        window: 64,
        credit: 128,
        opening: 128,
        queue_max: 16,
        delivery: Delivery::AnyOrder,
        selective: true,
        ack: AckPolicy { every: 8, delay: Duration::from_micros(20) },
        asks_seldom: false,
        rto_min: Duration::from_micros(300),
        rto_max: Duration::from_millis(200),
    }
}

pub type Table = Peers<u32, Connection<u64>>;

pub fn table() -> Table {
    Peers::new(PeersLimits { established: PEERS, strangers: STRANGERS, idle: Duration::from_secs(10) })
}

/// Fills the table with peers that answer and then fall silent, amid strangers that never do.
///
/// # Errors
/// What was lost or grew too large.
pub fn crowd(peers: &mut Table) -> Result<(), String> {
    let now = Instant::ZERO;
    let mut rng = Rng::new(1);
    let (mut stranger, mut epoch) = (1 << 20, 1);
    for key in 0..PEERS as u32 {
        for _ in 0..50 {
            let made_up = Connection::new(now, config(), epoch);
            peers.admit(now, stranger, made_up);
            (stranger, epoch) = (stranger + 1, epoch + 1);
        }
        peers.admit(now, key, Connection::new(now, config(), epoch));
        epoch += 1;
        let mut far = Connection::<u64>::new(now, config(), 7);
        let near = peers.get_mut(&key).ok_or("a newcomer is gone at once")?;
        near.push(key.into()).map_err(|_| "the queue is full")?;
        while let Some(segment) = near.poll(now) {
            far.handle(now, segment).map_err(|e| e.to_string())?;
            while let Some(segment) = far.poll(now) {
                near.handle(now, segment).map_err(|e| e.to_string())?;
            }
        }
        if !near.is_established() {
            return Err(format!("peer {key} is not established"));
        }
        peers.establish(now, &key).map_err(|e| e.to_string())?;
        peers.check_invariants();
    }
    // Everybody is busy, and nobody answers.
    for (_, connection) in peers.iter_mut() {
        while connection.in_flight() < 64 && connection.is_established() {
            while connection.push(rng.next_u64()).is_ok() {}
            while connection.poll(now).is_some() {}
        }
        while connection.push(rng.next_u64()).is_ok() {}
        connection.check_invariants();
    }
    for _ in 0..10_000 {
        peers.admit(now, stranger, Connection::new(now, config(), epoch));
        (stranger, epoch) = (stranger + 1, epoch + 1);
    }
    if let Some(key) = (0..PEERS as u32).find(|key| peers.get(key).is_none()) {
        return Err(format!("peer {key} had to leave for a stranger"));
    }
    let bytes: usize = peers.iter().map(|(_, c)| size_of_val(c) + c.bytes_max()).sum();
    if peers.len() > PEERS + STRANGERS || bytes > BYTES_MAX {
        return Err(format!("{} peers take {bytes} bytes", peers.len()));
    }
    Ok(())
}

#[test]
fn two_hundred_and_fifty_six_peers_fit_and_strangers_do_not_crowd_them_out() {
    let mut peers = table();
    crowd(&mut peers).unwrap();
    assert_eq!(peers.len(), PEERS + STRANGERS);
    peers.check_invariants();
}
