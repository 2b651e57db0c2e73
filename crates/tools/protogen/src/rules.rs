//! The rules that every kind states about itself: who sends it, who takes it, where, with what claim, in what order.
//!
//! [`COLUMNS`] is the only list of rules and their values. Every form is made from it, so a rule has the same names in
//! Rust, gateware, firmware, benches and documentation.

use anyhow::{Context, Result, ensure};

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

/// A value of a rule.
#[derive(Debug)]
pub(crate) struct Value {
    /// As the description writes it: lower case with dashes.
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
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
        values: &[Value { name: "host", doc: "Hosts send it." }, Value { name: "card", doc: "Cards send it." }],
    },
    Column {
        key: "to",
        type_name: "Receiver",
        doc: "Who takes a kind of frame.",
        values: &[
            Value { name: "host", doc: "Hosts take it; a card drops it." },
            Value { name: "card", doc: "Cards take it; a host drops it." },
            Value { name: "both", doc: "Hosts and cards take it." },
        ],
    },
    Column {
        key: "reach",
        type_name: "Reach",
        doc: "The destination addresses at which a kind of frame is taken.",
        values: &[
            Value {
                name: "unicast",
                doc: "The card's own address only: a question to one card must not be answered by all.",
            },
            Value { name: "group", doc: "A group's address only: what cards tell one another." },
            Value { name: "any", doc: "Any address the receiver listens to." },
        ],
    },
    Column {
        key: "claim",
        type_name: "ClaimRule",
        doc: "What a card requires of the sender before it acts on a frame.",
        values: &[
            Value { name: "none", doc: "Nothing: anyone may send it." },
            Value { name: "epoch", doc: "The sender owns the claim, and the frame's epoch is the claim's." },
            Value { name: "group", doc: "The sender owns the claim, and the frame's epoch is the claim's group id." },
            Value {
                name: "load",
                doc: "The sender owns the claim, and the frame's epoch is the group id of the card's load.",
            },
            Value { name: "member", doc: "The frame's epoch is the group id of the card's load; anyone may send it." },
        ],
    },
    Column {
        key: "taken_by",
        type_name: "TakenBy",
        doc: "What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it \
              cannot take.",
        values: &[
            Value { name: "host", doc: "Nothing: only hosts take it." },
            Value { name: "firmware", doc: "The firmware, from the control ring." },
            Value { name: "write", doc: "The hardware path that writes to memory." },
            Value { name: "read", doc: "The hardware path that reads from memory." },
            Value { name: "image", doc: "The hardware path that stages image data." },
            Value { name: "launch", doc: "The hardware path that queues launches." },
        ],
    },
    Column {
        key: "order",
        type_name: "Order",
        doc: "How a card made of gateware orders a frame with those its firmware has not finished. A frame to a \
              group address waits for barriers whatever its kind, since a barrier may make the card join the group.",
        values: &[
            Value { name: "none", doc: "It waits for no other frame, and none waits for it." },
            Value { name: "barrier", doc: "It may change claim or load: frames that depend on them wait for its end." },
            Value { name: "after-barrier", doc: "It waits until every barrier before it is finished." },
            Value { name: "after-control", doc: "It waits until every frame in the control ring is finished." },
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
    pub(crate) fn take(table: &mut toml::Table) -> Result<Self> {
        let mut rules = Self::default();
        for (column, chosen) in COLUMNS.iter().zip(&mut rules.chosen) {
            let value = table.remove(column.key).with_context(|| format!("`{}` is missing", column.key))?;
            let value = value.as_str().unwrap_or_default();
            let names: Vec<_> = column.values.iter().map(|v| v.name).collect();
            *chosen = names
                .iter()
                .position(|name| *name == value)
                .with_context(|| format!("`{}` is {value:?}, expected one of {}", column.key, names.join(", ")))?;
        }
        rules.check()?;
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

    /// What the values demand of one another.
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
