//! The rules that each kind of frame has: who sends it, who takes it, where, and under which claim.
//!
//! Made from protocol/ by `cargo run -p protogen`. Change that file, not this one.

/// The rules of one kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Who sends a kind of frame.
    pub from: Sender,
    /// Who takes a kind of frame.
    pub to: Receiver,
    /// The destination addresses at which a kind of frame is taken.
    pub reach: Reach,
    /// What a card requires of the sender before it acts on a frame.
    pub claim: ClaimRule,
    /// What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it cannot
    /// take.
    pub taken_by: TakenBy,
    /// How a card made of gateware orders a frame with those its firmware has not finished. A frame to a group address
    /// waits for barriers whatever its kind, since a barrier may make the card join the group.
    pub order: Order,
}

/// Who sends a kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Hosts send it.
    Host,
    /// Cards send it.
    Card,
    /// Hosts and cards send it.
    Both,
}

/// Who takes a kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receiver {
    /// Hosts take it; a card drops it.
    Host,
    /// Cards take it; a host drops it.
    Card,
    /// Hosts and cards take it.
    Both,
}

/// The destination addresses at which a kind of frame is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The card's own address only: a question to one card must not be answered by all.
    Unicast,
    /// A group's address only: what cards tell one another.
    Group,
    /// Any address the receiver listens to.
    Any,
}

/// What a card requires of the sender before it acts on a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimRule {
    /// Nothing: anyone may send it.
    None,
    /// The sender owns the claim, and the frame's epoch is the claim's.
    Epoch,
    /// The sender owns the claim, and the frame's epoch is the claim's group id.
    Group,
    /// The sender owns the claim, and the frame's epoch is the group id of the card's load.
    Load,
    /// The frame's epoch is the group id of the card's load; anyone may send it.
    Member,
    /// No claim, but a window of the receiver that is open to the sender, with the right that the frame needs.
    Window,
}

/// What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBy {
    /// Nothing: only hosts take it.
    Host,
    /// The firmware, from the control ring.
    Firmware,
    /// The hardware path that writes to memory.
    Write,
    /// The hardware path that reads from memory.
    Read,
    /// The hardware path that stages image data.
    Image,
    /// The hardware path that queues launches.
    Launch,
    /// The bridge, to which the transport gives it once and in order.
    Bridge,
    /// The transport alone: it is about frames that were sent, and has no number.
    Transport,
    /// The command sequencer, to which the transport gives it once and in order.
    Sequencer,
}

/// How a card made of gateware orders a frame with those its firmware has not finished. A frame to a group address
/// waits for barriers whatever its kind, since a barrier may make the card join the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// It waits for no other frame, and none waits for it.
    None,
    /// It may change claim or load: frames that depend on them wait for its end.
    Barrier,
    /// It waits until every barrier before it is finished.
    AfterBarrier,
    /// It waits until every frame in the control ring is finished.
    AfterControl,
}
