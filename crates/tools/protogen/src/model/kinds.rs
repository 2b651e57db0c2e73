//! EtherTypes and the kinds of frames behind each.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::recognition::RecognisedBy;
use crate::rules::Rules;

#[derive(Debug, Deserialize)]
#[serde(try_from = "RawEtherType")]
pub(crate) struct EtherType {
    /// Begins the names of its kinds. Empty in a family whose kinds have numbers of one space.
    pub(crate) name: String,
    pub(crate) value: u16,
    pub(crate) table1: Option<String>,
    pub(crate) doc: String,
    pub(crate) on_links: bool,
    pub(crate) kinds: Vec<Kind>,
}

/// As it stands in the file: kinds are read by hand, so that an error names the kind and the key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEtherType {
    name: String,
    value: u16,
    table1: Option<String>,
    doc: String,
    /// Its kinds are those of a family that is recognised on links alone.
    #[serde(default)]
    on_links: bool,
    kinds: Vec<toml::Table>,
}

impl TryFrom<RawEtherType> for EtherType {
    type Error = String;

    fn try_from(raw: RawEtherType) -> Result<Self, String> {
        let by = if raw.on_links { RecognisedBy::Link } else { RecognisedBy::EtherType };
        let read = |table| Kind::read(&raw.name, by, table).map_err(|e| format!("{e:#}"));
        let kinds = raw.kinds.into_iter().map(read).collect::<Result<_, _>>()?;
        let RawEtherType { name, value, table1, doc, on_links, .. } = raw;
        Ok(Self { name, value, table1, doc, on_links, kinds })
    }
}

impl EtherType {
    /// The one EtherType of a family that IPv6 packets carry, with these kinds.
    pub(super) fn flat(value: u16, kinds: Vec<toml::Table>) -> Result<Self> {
        let read = |table| Kind::read("kind", RecognisedBy::Ipv6, table);
        let kinds = kinds.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Self { name: String::new(), value, table1: None, doc: String::new(), on_links: false, kinds })
    }
}

#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) value: u8,
    pub(crate) rules: Rules,
    /// A struct's name; `*` for bytes without structure; empty for no payload.
    pub(crate) payload: String,
    /// Whether a frame may come without the payload's struct.
    pub(crate) optional: bool,
    /// What the bytes of a `*` are.
    pub(crate) content: Content,
    pub(crate) doc: String,
}

/// What a payload without structure holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Content {
    #[default]
    Bytes,
    Counters,
    Text,
}

impl Kind {
    fn read(group: &str, by: RecognisedBy, table: toml::Table) -> Result<Self> {
        let name = table.get("name").and_then(toml::Value::as_str);
        let name = name.with_context(|| format!("{group}: a kind's `name` is missing"))?.to_owned();
        Self::read_named(&name, by, table).with_context(|| format!("{group}.{name}"))
    }

    fn read_named(name: &str, by: RecognisedBy, mut table: toml::Table) -> Result<Self> {
        table.remove("name");
        let value =
            take(&mut table, "value", "a number up to 255", |v| v.as_integer().and_then(|n| u8::try_from(n).ok()))?;
        let payload = take(&mut table, "payload", "text", |v| v.as_str().map(str::to_owned))?;
        let doc = take(&mut table, "doc", "text", |v| v.as_str().map(str::to_owned))?;
        let content = table.remove("content").map(Content::deserialize).transpose().context("`content`")?;
        let optional = table.remove("optional").map(bool::deserialize).transpose().context("`optional`")?;
        let rules = Rules::take(&mut table, by)?;
        if let Some(key) = table.keys().next() {
            bail!("unknown key `{key}`");
        }
        ensure!(!doc.is_empty(), "`doc` is empty");
        let (optional, content) = (optional.unwrap_or_default(), content.unwrap_or_default());
        Ok(Self { name: name.to_owned(), value, rules, payload, optional, content, doc })
    }
}

/// Takes a required key out of a kind's table.
fn take<T>(table: &mut toml::Table, key: &str, form: &str, read: impl Fn(&toml::Value) -> Option<T>) -> Result<T> {
    let value = table.remove(key).with_context(|| format!("`{key}` is missing"))?;
    read(&value).with_context(|| format!("`{key}`: expected {form}"))
}
