//! A card as others of its group have to know it.

use std::time::Duration;

use rackloom_collective::{Command, Group, SURVEY_BYTES};
use rackloom_host::CardName;
use rackloom_sync::lock;
use rackloom_wire::MacAddr;

use super::{CommError, Place, launch};
use crate::Rack;
use crate::desk::DATA;

/// A card of a group: its name, its memory, and who is at the other ends of its links. Where each rank is a process of
/// its own, they tell each other their seats before they join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    pub(super) card: CardName,
    /// Bytes.
    pub(super) memory: u64,
    /// By port.
    neighbours: [Option<MacAddr>; PORTS],
}

/// Ports of a card, at most.
const PORTS: usize = SURVEY_BYTES as usize / 16;
/// Bytes before the neighbours.
const HEAD: usize = 24;
/// How long the question may take: longer than cards wait for an answer.
const LIMIT: Duration = Duration::from_secs(10);

impl Seat {
    /// Bytes of a seat.
    pub const BYTES: usize = HEAD + PORTS * 8;

    /// Has claimed cards ask at all their links who is there. All cards of a group should be
    /// claimed before: a card's links begin anew when its claim ends.
    ///
    /// # Errors
    /// [`CommError::Card`]: also for a card without links.
    pub fn survey(rack: &Rack, cards: &[MacAddr]) -> Result<Vec<Self>, CommError> {
        let known = rack.cards()?;
        let info = |mac: &MacAddr| known.iter().find(|card| card.mac == *mac);
        let places: Vec<_> = cards
            .iter()
            .map(|mac| Place { card: CardName { mac: *mac, unit: info(mac).map(|card| card.unit) }, rank: 0 })
            .collect();
        let program = vec![Command::Survey { to: DATA }];
        let desks = super::turns_of(rack, &places);
        let _turns: Vec<_> = desks.iter().map(|desk| lock(&desk.turn)).collect();
        super::write_programs(rack, &places, &vec![&program; places.len()])?;
        let ran = launch(rack, &places, &vec![program.len(); places.len()], LIMIT, (0, 1), rack.desks.go())?;
        let failed: Vec<_> = ran.reports.into_iter().enumerate().filter(|(_, report)| report.cause.is_some()).collect();
        if !failed.is_empty() {
            let names: Vec<_> = places.iter().map(|place| place.card).collect();
            let unjoined = Group::new(vec![vec![None; names.len()]; names.len()]);
            CommError::first(&names, &unjoined, &failed).map_or(Ok(()), Err)?;
        }
        let reads: Vec<_> = cards.iter().map(|card| rack.read(*card, DATA, SURVEY_BYTES)).collect();
        let seat = |(place, read): (&Place, crate::Pending<bytes::Bytes>)| {
            let table = read.wait()?;
            let mut neighbours = [None; PORTS];
            for (port, row) in table.chunks_exact(16).enumerate().filter(|(_, row)| row[7] == 1) {
                neighbours[port] = Some(MacAddr(*row.first_chunk().expect("16 bytes")));
            }
            let memory = info(&place.card.mac).map_or(0, |card| card.memory);
            Ok(Self { card: place.card, memory, neighbours })
        };
        places.iter().zip(reads).map(seat).collect()
    }

    /// The card.
    pub const fn card(&self) -> CardName {
        self.card
    }

    /// The group of these cards.
    pub(super) fn group(seats: &[Self]) -> Group {
        let port = |from: &Self, to: &Self| {
            let port = from.neighbours.iter().position(|at| *at == Some(to.card.mac))?;
            u8::try_from(port).ok()
        };
        Group::new(seats.iter().map(|from| seats.iter().map(|to| port(from, to)).collect()).collect())
    }

    /// Its bytes, for the other processes: address, unit and memory, and 8 bytes for each port.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..6].copy_from_slice(&self.card.mac.0);
        if let Some(unit) = self.card.unit {
            out[6] = 1;
            out[8..10].copy_from_slice(&unit.to_be_bytes());
        }
        out[16..24].copy_from_slice(&self.memory.to_be_bytes());
        for (row, neighbour) in out[HEAD..].chunks_exact_mut(8).zip(self.neighbours) {
            if let Some(mac) = neighbour {
                row[..6].copy_from_slice(&mac.0);
                row[7] = 1;
            }
        }
        out
    }

    /// The seat that these bytes are; `None` if they are none.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mac = |row: &[u8]| row.first_chunk().copied().map(MacAddr);
        let unit = (bytes[6] == 1).then(|| u16::from_be_bytes([bytes[8], bytes[9]]));
        let mut neighbours = [None; PORTS];
        for (neighbour, row) in neighbours.iter_mut().zip(bytes[HEAD..].chunks_exact(8)) {
            *neighbour = if row[7] == 1 { mac(row) } else { None };
        }
        let memory = u64::from_be_bytes(*bytes[16..].first_chunk()?);
        let seat = Self { card: CardName { mac: mac(bytes)?, unit }, memory, neighbours };
        (seat.encode() == *bytes).then_some(seat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_comes_back_and_nonsense_is_none() {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let mut neighbours = [None; PORTS];
        (neighbours[1], neighbours[63]) = (Some(mac(2)), Some(mac(3)));
        for unit in [None, Some(7)] {
            let seat = Seat { card: CardName { mac: mac(1), unit }, memory: 4 << 30, neighbours };
            assert_eq!(Seat::decode(&seat.encode()), Some(seat.clone()));
            for at in [6, 7, 11, HEAD + 6, HEAD + 8 + 7] {
                let mut bytes = seat.encode();
                bytes[at] ^= 0x80;
                assert_eq!(Seat::decode(&bytes), None, "another byte {at}");
            }
        }
        let seat = |own, other| {
            let mut neighbours = [None; PORTS];
            neighbours[4] = Some(mac(other));
            Seat { card: CardName { mac: mac(own), unit: None }, memory: 1, neighbours }
        };
        let group = Seat::group(&[seat(1, 2), seat(2, 9)]);
        assert_eq!((group.port(0, 1), group.port(1, 0)), (Some(4), None));
    }
}
