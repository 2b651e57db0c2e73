//! Programs of a card: image files and their builds.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use opencl_sys::{
    CL_BUILD_PROGRAM_FAILURE, CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BINARY, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_NONE, CL_SUCCESS,
};
use rackloom::{Error, OpError};
use rackloom_image::{Image, ImageError, MAGIC, TARGET_MODEL, TARGET_RTL};
use rackloom_opencl_wire::{Build, Form};
use rackloom_sync::lock;
use rackloom_wire::CardKind;

use super::built::Built;
use super::configure::Denied;
use super::consent::Wanted;
use super::objects::CardSpace;
use super::tenancy::Taken;
use crate::code::Code;
use crate::quota::Charge;

/// A program of a card.
#[derive(Debug)]
pub struct CardProgram {
    /// The image file; `None` for a program from source, for which a card has no compiler.
    file: Option<Bytes>,
    built: Mutex<Option<Arc<Built>>>,
    /// Kept by what is built, too: that has the file as well.
    charge: Arc<Charge>,
}

impl CardProgram {
    /// Makes a program of these bytes.
    ///
    /// # Errors
    /// `CL_INVALID_BINARY`: the binary is not an image file.
    pub(super) fn new(form: Form, bytes: Vec<u8>, charge: Charge) -> Result<Self, Code> {
        let file = match form {
            Form::Source => None,
            Form::Binary if bytes.starts_with(&MAGIC) => Some(bytes.into()),
            Form::Binary => return Err(Code(CL_INVALID_BINARY)),
        };
        Ok(Self { file, built: Mutex::default(), charge: Arc::new(charge) })
    }

    /// Checks the image, and whether the card may be configured with it. This may take long if a registry has to move
    /// other tenants first.
    ///
    /// # Errors
    /// `CL_COMPILER_NOT_AVAILABLE`: the program is source.
    pub(super) fn build(&self, space: &CardSpace) -> Result<Build, Code> {
        let card = &space.card;
        let file = self.file.clone().ok_or(Code(CL_COMPILER_NOT_AVAILABLE))?;
        let image = match check(file, card.kind) {
            Ok(image) => image,
            Err(why) => return Ok(failed(CL_INVALID_BINARY, format!("{}: {why}\n", why.code_name()))),
        };
        // Before a registry or a neighbour is asked for anything.
        match card.admits(image.bytes()) {
            Ok(()) => {}
            Err(Error::Op(why @ OpError::NotAllowed { .. })) => {
                let code = why.code_name().unwrap_or_default();
                return Ok(failed(CL_INVALID_BINARY, format!("{code}: {}: {}\n", card.name, why.reason())));
            }
            Err(why) => return Ok(failed(CL_BUILD_PROGRAM_FAILURE, format!("cannot check the image: {why}\n"))),
        }
        let manifest = image.manifest();
        let kernels = manifest.kernels.iter().map(|k| k.name.clone()).collect();
        let name = format!("{} {}", manifest.name, manifest.version);
        let accelerator = format!("{}@{}", manifest.name, manifest.version);
        let (digest, tenant) = (image.digest(), space.tenant);
        let wanted = Wanted { instance: &space.name, accelerator: &accelerator, digest };
        if let Err(why) = card.hold(tenant, &wanted, &name, &space.gone) {
            let log = match why {
                Denied::Registry(why) => format!("cannot load the image {name} onto {}: {why}.\n", card.name),
                Denied::Neighbours(Taken { image, tenants }) => {
                    let them = match tenants {
                        1 => "1 other program has".into(),
                        _ => format!("{tenants} other programs have"),
                    };
                    format!(
                        "{} is used with the image {image}: {them} kernels of it. It can be configured with {name} \
                         when they have released them.\n",
                        card.name
                    )
                }
            };
            return Ok(failed(CL_BUILD_PROGRAM_FAILURE, log));
        }
        let instance = Arc::clone(&space.name);
        let (card, charge) = (Arc::clone(card), Arc::clone(&self.charge));
        let built = Arc::new(Built { image, digest, accelerator, instance, card, tenant, _charge: charge });
        let before = lock(&self.built).replace(built);
        drop(before); // Outside the lock: releases what an earlier build held.
        let (status, binary_type) = (CL_SUCCESS, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        Ok(Build { status, binary_type, log: String::new(), kernels, global_variables: 0 })
    }

    /// The built image.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE`: the program is not built.
    pub(super) fn built(&self) -> Result<Arc<Built>, Code> {
        lock(&self.built).clone().ok_or(Code(CL_INVALID_PROGRAM_EXECUTABLE))
    }
}

/// Checks what can be checked without the card: the file's format, the digests of all parts, and that one is for this
/// kind of card. A real board selects its part itself.
fn check(file: Bytes, kind: CardKind) -> Result<Image, ImageError> {
    let image = Image::parse(file)?;
    image.verify()?;
    match kind {
        CardKind::Model => image.part(TARGET_MODEL).map(|_| ())?,
        CardKind::Rtl => image.part(TARGET_RTL).map(|_| ())?,
        CardKind::Board => {}
    }
    image.layout().check_shell(rackloom_wire::VERSION.into())?;
    Ok(image)
}

const fn failed(status: i32, log: String) -> Build {
    let binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
    Build { status, binary_type, log, kernels: Vec::new(), global_variables: 0 }
}
