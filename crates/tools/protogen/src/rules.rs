//! The rules that every kind states about itself: who sends it, who takes it, where, with what claim, in what order.
//!
//! [`COLUMNS`] is the only list of rules and their values. Every form is made from it, so a rule has the same names in
//! Rust, gateware, firmware, benches and documentation. Some values are of use to families of one sort only; forms of a
//! family leave out those that none of its kinds can have.

use anyhow::{Context, Result, ensure};

use crate::recognition::RecognisedBy;

/// A rule: a key that each kind of frame must give, and its possible values.
#[derive(Debug)]
pub(crate) struct Column {
    /// The key in the description.
    pub(crate) key: &'static str,
    /// The name of its type, in camel case.
    pub(crate) type_name: &'static str,
    pub(crate) doc: &'static str,
    /// The values; the first is number 1 in gateware and firmware, so that 0 stands for no rule.
    pub(crate) values: &'static [Value],
}

impl Column {
    /// The values that a kind of such a family can have, with their numbers in gateware and firmware.
    pub(crate) fn values_of(&self, by: RecognisedBy) -> impl Iterator<Item = (u64, &'static Value)> {
        (1..).zip(self.values).filter(move |(_, v)| v.only.contains(&by))
    }
}

/// A value of a rule.
#[derive(Debug)]
pub(crate) struct Value {
    /// As the description writes it: lower case with dashes.
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// The families whose kinds can have it.
    only: &'static [RecognisedBy],
}

impl Value {
    /// A value for kinds of all families.
    const fn any(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::EtherType, RecognisedBy::Ipv6, RecognisedBy::Link] }
    }

    /// A value for families that are recognised by their EtherTypes: a host and the card it claims.
    const fn claimed(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::EtherType] }
    }

    /// A value for families that IPv6 packets carry: nodes of equal rank.
    const fn carried(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::Ipv6] }
    }

    /// A value for families of links: two cards with a cable between them.
    const fn linked(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::Link] }
    }

    /// A value for what cards say to hosts and to each other.
    const fn cards(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::EtherType, RecognisedBy::Link] }
    }

    /// A value for nodes of equal rank, wherever they meet.
    const fn equals(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, only: &[RecognisedBy::Ipv6, RecognisedBy::Link] }
    }
}

/// A rule by its place in [`COLUMNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    From,
    To,
    Reach,
    Claim,
    TakenBy,
    Order,
}

/// The hardware's own paths: each takes one kind of frame.
const PATHS: [&str; 4] = ["write", "read", "image", "launch"];

/// Every rule, in the order of [`Rule`].
pub(crate) const COLUMNS: [Column; 6] = [
    Column {
        key: "from",
        type_name: "Sender",
        doc: "Who sends a kind of frame.",
        values: &[
            Value::claimed("host", "Hosts send it."),
            Value::cards("card", "Cards send it."),
            Value::carried("both", "Hosts and cards send it."),
        ],
    },
    Column {
        key: "to",
        type_name: "Receiver",
        doc: "Who takes a kind of frame.",
        values: &[
            Value::claimed("host", "Hosts take it; a card drops it."),
            Value::cards("card", "Cards take it; a host drops it."),
            Value::any("both", "Hosts and cards take it."),
        ],
    },
    Column {
        key: "reach",
        type_name: "Reach",
        doc: "The destination addresses at which a kind of frame is taken.",
        values: &[
            Value::any("unicast", "The card's own address only: a question to one card must not be answered by all."),
            Value::cards("group", "A group's address only: what cards tell one another."),
            Value::claimed("any", "Any address the receiver listens to."),
        ],
    },
    Column {
        key: "claim",
        type_name: "ClaimRule",
        doc: "What a card requires of the sender before it acts on a frame.",
        values: &[
            Value::any("none", "Nothing: anyone may send it."),
            Value::claimed("epoch", "The sender owns the claim, and the frame's epoch is the claim's."),
            Value::claimed("group", "The sender owns the claim, and the frame's epoch is the claim's group id."),
            Value::claimed(
                "load",
                "The sender owns the claim, and the frame's epoch is the group id of the card's load.",
            ),
            Value::claimed("member", "The frame's epoch is the group id of the card's load; anyone may send it."),
            Value::carried(
                "window",
                "No claim, but a window of the receiver that is open to the sender, with the right that the frame needs.",
            ),
        ],
    },
    Column {
        key: "taken_by",
        type_name: "TakenBy",
        doc: "What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it \
              cannot take.",
        values: &[
            Value::claimed("host", "Nothing: only hosts take it."),
            Value::claimed("firmware", "The firmware, from the control ring."),
            Value::claimed("write", "The hardware path that writes to memory."),
            Value::claimed("read", "The hardware path that reads from memory."),
            Value::claimed("image", "The hardware path that stages image data."),
            Value::claimed("launch", "The hardware path that queues launches."),
            Value::carried("bridge", "The bridge, to which the transport gives it once and in order."),
            Value::equals("transport", "The transport alone: it is about frames that were sent, and has no number."),
            Value::linked("sequencer", "The command sequencer, to which the transport gives it once and in order."),
        ],
    },
    Column {
        key: "order",
        type_name: "Order",
        doc: "How a card made of gateware orders a frame with those its firmware has not finished. A frame to a \
              group address waits for barriers whatever its kind, since a barrier may make the card join the group.",
        values: &[
            Value::any("none", "It waits for no other frame, and none waits for it."),
            Value::claimed("barrier", "It may change claim or load: frames that depend on them wait for its end."),
            Value::claimed("after-barrier", "It waits until every barrier before it is finished."),
            Value::claimed("after-control", "It waits until every frame in the control ring is finished."),
        ],
    },
];

/// The rules of one kind.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// The place of each rule's value in its column.
    chosen: [usize; COLUMNS.len()],
}

impl Rules {
    /// Takes the rules of a kind out of its table.
    pub(crate) fn take(table: &mut toml::Table, by: RecognisedBy) -> Result<Self> {
        let mut rules = Self::default();
        for (column, chosen) in COLUMNS.iter().zip(&mut rules.chosen) {
            let value = table.remove(column.key).with_context(|| format!("`{}` is missing", column.key))?;
            let value = value.as_str().unwrap_or_default();
            let found = column.values_of(by).position(|(_, v)| v.name == value);
            let names = || column.values_of(by).map(|(_, v)| v.name).collect::<Vec<_>>().join(", ");
            found.with_context(|| format!("`{}` is {value:?}, expected one of {}", column.key, names()))?;
            *chosen = column.values.iter().position(|v| v.name == value).expect("it is one of them");
        }
        match by {
            RecognisedBy::EtherType => rules.check()?,
            RecognisedBy::Ipv6 => rules.check_carried()?,
            // Each rule has what links can have, and nothing of it contradicts the rest.
            RecognisedBy::Link => {}
        }
        Ok(rules)
    }

    /// The value of this rule.
    pub(crate) fn get(&self, rule: Rule) -> &'static str {
        COLUMNS[rule as usize].values[self.chosen[rule as usize]].name
    }

    /// All values, in the order of [`COLUMNS`].
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static Column, &'static str)> {
        COLUMNS.iter().zip(&self.chosen).map(|(column, chosen)| (column, column.values[*chosen].name))
    }

    /// True when cards take it.
    pub(crate) fn to_card(&self) -> bool {
        self.get(Rule::To) != "host"
    }

    /// The hardware path that takes it.
    pub(crate) fn path(&self) -> Option<&'static str> {
        PATHS.into_iter().find(|path| *path == self.get(Rule::TakenBy))
    }

    /// What the values demand of one another in a family that IPv6 packets carry.
    fn check_carried(&self) -> Result<()> {
        let judged = self.get(Rule::Claim) != "window" || self.get(Rule::TakenBy) == "bridge";
        ensure!(judged, "`claim`: the transport knows no windows");
        Ok(())
    }

    /// What the values demand of one another in a family that is recognised by its EtherTypes.
    fn check(&self) -> Result<()> {
        let [from, taken_by, claim, order] =
            [Rule::From, Rule::TakenBy, Rule::Claim, Rule::Order].map(|rule| self.get(rule));
        ensure!(from == "card" || self.get(Rule::To) == "card", "`to`: what a host sends goes to cards");
        ensure!((taken_by == "host") != self.to_card(), "`taken_by` is {taken_by:?}, which contradicts `to`");
        if !self.to_card() {
            let free = self.get(Rule::Reach) == "any" && claim == "none" && order == "none";
            ensure!(
                free,
                "`reach`, `claim` and `order` are a card's rules: expected any, none, none for a host's kind"
            );
        }
        // Hardware judges by what the firmware has said of claim and load, so the firmware must have said it all.
        let waits = order.starts_with("after-");
        ensure!(self.path().is_none() || waits, "`order` is {order:?}, and a hardware path needs after-...");
        ensure!(order != "barrier" || taken_by == "firmware", "`order`: only firmware takes a barrier");
        Ok(())
    }
}
