//! Looks at a module before it is compiled: drops what does nothing and refuses what a role may not have.

use core::ops::Range;

use wasmparser::{ConstExpr, DataKind, Operator, Parser, Payload};

use rackloom_role::{ROLE_PRIVATE, RoleError};

/// Most bytes of a module without its custom sections. With the limit on functions it keeps the compiler's time for the
/// worst of modules to some seconds; kernels have kilobytes.
pub(crate) const MODULE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of one function: the compiler's time grows faster than a function's size.
const FUNCTION_BYTES_MAX: u64 = 64 << 10;
/// Most functions, imported ones included.
const FUNCTIONS_MAX: u64 = 16 << 10;
/// Most globals: each takes 16 bytes in every card's instance.
const GLOBALS_MAX: u64 = 4 << 10;
/// Most tables.
pub(crate) const TABLES_MAX: u64 = 4;
/// Most elements of a table: each takes 8 bytes in every card's instance.
pub(crate) const TABLE_ELEMENTS_MAX: u64 = 64 << 10;

/// The module in `part` without its custom sections.
pub(crate) fn inspect(part: &[u8]) -> Result<Vec<u8>, RoleError> {
    let mut module = Vec::new();
    for payload in Parser::new(0).parse_all(part) {
        let payload = payload.map_err(module_error)?;
        if let Payload::Version { range, encoding, .. } = &payload {
            if *encoding != wasmparser::Encoding::Module {
                return Err(RoleError::Module("a component, where a core module is needed".into()));
            }
            module.extend_from_slice(&part[range.clone()]);
            continue;
        }
        check(&payload)?;
        if matches!(payload, Payload::CustomSection(_)) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            limit("bytes of the module", (module.len() + range.len()) as u64, MODULE_BYTES_MAX)?;
            push_section(&mut module, id, &part[checked(range, part)?]);
        }
    }
    Ok(module)
}

fn check(payload: &Payload<'_>) -> Result<(), RoleError> {
    match payload {
        Payload::StartSection { .. } => {
            Err(RoleError::Module("it has a start function, but nothing of a role runs before a launch".into()))
        }
        Payload::MemorySection(section) if section.count() > 0 => {
            Err(RoleError::Memory("the module defines a memory; it must import env.memory, the card's".into()))
        }
        Payload::FunctionSection(section) => limit("functions", section.count().into(), FUNCTIONS_MAX),
        Payload::GlobalSection(section) => limit("globals", section.count().into(), GLOBALS_MAX),
        Payload::CodeSectionEntry(body) => limit("bytes of a function", body.range().len() as u64, FUNCTION_BYTES_MAX),
        Payload::TableSection(section) => {
            limit("tables", section.count().into(), TABLES_MAX)?;
            section.clone().into_iter().try_for_each(|table| {
                limit("elements of a table", table.map_err(module_error)?.ty.initial, TABLE_ELEMENTS_MAX)
            })
        }
        Payload::DataSection(section) => section.clone().into_iter().try_for_each(|data| {
            let data = data.map_err(module_error)?;
            match data.kind {
                DataKind::Passive => Ok(()),
                DataKind::Active { offset_expr, .. } => check_data(&offset_expr, data.data.len() as u64),
            }
        }),
        _ => Ok(()),
    }
}

/// A data segment beyond the role's own memory would overwrite the host's data when the role is activated.
fn check_data(offset: &ConstExpr<'_>, length: u64) -> Result<(), RoleError> {
    let mut ops = offset.get_operators_reader();
    let start = match (ops.read().map_err(module_error)?, ops.read().map_err(module_error)?) {
        (Operator::I32Const { value }, Operator::End) => u64::from(value.cast_unsigned()),
        _ => return Err(RoleError::Memory("a data segment's address is not a constant".into())),
    };
    let end = start.saturating_add(length);
    if end <= ROLE_PRIVATE {
        return Ok(());
    }
    Err(RoleError::Memory(format!("a data segment ends at {end:#x}, but the role's own memory at {ROLE_PRIVATE:#x}")))
}

fn limit(what: &'static str, found: u64, limit: u64) -> Result<(), RoleError> {
    if found <= limit { Ok(()) } else { Err(RoleError::Limit { what, found, limit }) }
}

fn module_error(error: wasmparser::BinaryReaderError) -> RoleError {
    RoleError::Module(error.to_string())
}

/// The parser hands out a code section's range before it has seen whether the file is that long.
fn checked(range: Range<usize>, part: &[u8]) -> Result<Range<usize>, RoleError> {
    if range.end <= part.len() { Ok(range) } else { Err(RoleError::Module("a section ends beyond the file".into())) }
}

/// Appends a section with this number.
pub(crate) fn push_section(module: &mut Vec<u8>, id: u8, body: &[u8]) {
    module.push(id);
    push_leb(module, u32::try_from(body.len()).expect("limited by the caller"));
    module.extend_from_slice(body);
}

/// Appends a number in LEB128: seven bits a byte, the least significant first.
pub(crate) fn push_leb(module: &mut Vec<u8>, mut rest: u32) {
    while rest >= 0x80 {
        module.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    module.push(rest as u8);
}
