//! `rackloom image`: role images.

use std::path::Path;

use rackloom_image::{Image, TARGET_MODEL};
use rackloom_report::Table;
use rackloom_role::Sandbox;
use rackloom_rolec::Options;
use rackloom_sandbox::WasmSandbox;
use rackloom_sign::{Policy, Refusal, Signature, signature_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::ImageAction;
use crate::commands::info::{KernelRow, kernel_row};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::signers::SignerFile;
use crate::whole::{self, Before};
use crate::{format, images};

/// What an image contains.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ImageReport {
    /// `rackloom.image/1`
    schema: &'static str,
    /// The file, or the name of the role.
    image: String,
    /// Name of the role.
    name: String,
    /// Its version.
    version: String,
    /// What the role does.
    description: String,
    /// Bytes of the file.
    bytes: u64,
    /// BLAKE3 digest of the file.
    digest: String,
    /// The role's clock, MHz.
    clock_mhz: u32,
    /// Its kernels.
    kernels: Vec<KernelRow>,
    /// Its parts.
    parts: Vec<PartRow>,
    /// Its signature, if it has one.
    signature: Option<SignatureRow>,
}

/// The signature of an image.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SignatureRow {
    /// The signer's public key, if the signature is right.
    signer: Option<String>,
    /// The signer's name, if the policy given has it.
    name: Option<String>,
    /// The image's version, as its signer counts.
    version: Option<u64>,
    /// What is wrong with the signature, if anything.
    problem: Option<String>,
}

/// The part of an image that configures one kind of card.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PartRow {
    /// The kind of card.
    target: String,
    /// Its bytes.
    bytes: u64,
    /// Its BLAKE3 digest.
    digest: String,
}

/// Whether an image is valid.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyReport {
    /// `rackloom.image-verify/1`
    schema: &'static str,
    /// The file, or the name of the role.
    image: String,
    /// The checks.
    checks: Vec<Check>,
    /// Whether all checks passed.
    ok: bool,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Check {
    /// What was checked.
    what: &'static str,
    /// What is wrong, if anything.
    problem: Option<String>,
}

pub(super) fn run(cx: &Context, action: &ImageAction) -> Result<Exit> {
    match action {
        ImageAction::Build { dir, output, pad_to, bitstream } => build(cx, dir, output, *pad_to, bitstream.as_deref()),
        ImageAction::Show { image } => show(cx, image, &images::find(image)?),
        ImageAction::Sign { image, signer, number, output } => sign(cx, image, signer, *number, output),
        ImageAction::Verify { image } => verify(cx, image),
    }
}

fn build(cx: &Context, dir: &Path, output: &Path, pad_to: Option<u64>, bitstream: Option<&Path>) -> Result<Exit> {
    let pad_to = pad_to.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let read = |file: &Path| std::fs::read(file).during(format!("cannot read {}", file.display()));
    let bitstream = bitstream.map(read).transpose()?;
    let bytes = rackloom_rolec::build_role(dir, &Options { clang: None, pad_to, bitstream })
        .map_err(|e| Failure::of(&e).during(format!("cannot build {}", dir.display())))?;
    std::fs::write(output, &bytes).during(format!("cannot write {}", output.display()))?;
    let image = Image::parse(bytes.into()).map_err(|e| Failure::of(&e))?;
    show(cx, &output.display().to_string(), &image)
}

fn sign(cx: &Context, name: &str, signer: &Path, version: u64, output: &Path) -> Result<Exit> {
    let (image, key) = (images::find(name)?, SignerFile::read(signer)?);
    let signed = rackloom_sign::sign(&image, &key, version)
        .map_err(|e| Failure::of(&e).during(format!("cannot sign {name}")))?;
    whole::write(output, &signed, 0o644, Before::Replace).during(format!("cannot write {}", output.display()))?;
    let image = Image::parse(signed).map_err(|e| Failure::of(&e))?;
    show(cx, &output.display().to_string(), &image)
}

fn show(cx: &Context, name: &str, image: &Image) -> Result<Exit> {
    let manifest = image.manifest();
    let part = |p: &rackloom_image::Part| PartRow {
        target: p.target.clone(),
        bytes: p.range.len() as u64,
        digest: format::hex(&p.digest),
    };
    let report = ImageReport {
        schema: "rackloom.image/1",
        image: name.to_owned(),
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        description: manifest.description.clone(),
        bytes: image.bytes().len() as u64,
        digest: format::hex(&image.digest()),
        clock_mhz: manifest.clock_mhz,
        kernels: manifest.kernels.iter().map(kernel_row).collect(),
        parts: image.parts().iter().map(part).collect(),
        signature: signature(image, cx.policy()?.as_ref()),
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

fn signature(image: &Image, policy: Option<&Policy>) -> Option<SignatureRow> {
    match signature_of(image.bytes()) {
        Ok(None) => None,
        Ok(Some(Signature { signer, version, .. })) => Some(SignatureRow {
            signer: Some(signer.to_string()),
            name: policy.and_then(|policy| policy.signer(&signer)).map(|signer| signer.name.clone()),
            version: Some(version),
            problem: None,
        }),
        Err(e) => Some(SignatureRow { signer: None, name: None, version: None, problem: Some(e.to_string()) }),
    }
}

fn text(r: &ImageReport) -> String {
    let mut out = format!("{} {}, {}, {} MHz\n", r.name, r.version, format::bytes(r.bytes), r.clock_mhz);
    if !r.description.is_empty() {
        out.push_str(&format!("{}\n", r.description));
    }
    out.push_str(&format!("digest {}\n", r.digest));
    match &r.signature {
        None => out.push_str("signed by nobody\n\n"),
        Some(SignatureRow { signer: Some(signer), name, version: Some(version), .. }) => {
            let name = name.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
            out.push_str(&format!("signed by {name}{signer}, version {version}\n\n"));
        }
        Some(row) => out.push_str(&format!("signature: {}\n\n", row.problem.as_deref().unwrap_or_default())),
    }
    for k in &r.kernels {
        out.push_str(&format!("{}\n", k.signature));
    }
    out.push('\n');
    let mut table = Table::new(&["TARGET", ">SIZE", "DIGEST"]);
    r.parts.iter().for_each(|p| table.row([p.target.clone(), format::bytes(p.bytes), p.digest[..16].to_owned()]));
    out + &table.to_string()
}

fn verify(cx: &Context, name: &str) -> Result<Exit> {
    let policy = cx.policy()?;
    let mut checks = Vec::new();
    let mut check = |what, problem: Option<String>| checks.push(Check { what, problem });
    match images::find(name) {
        // Finding an invalid image is this command's purpose; a file that cannot be read is an error.
        Err(f) if f.what.contains("is not a valid image") => {
            check("header, part table and manifest", f.causes.first().cloned());
        }
        Err(f) => return Err(f),
        Ok(image) => {
            check("header, part table and manifest", None);
            check("digest of each part", image.verify().err().map(|e| e.to_string()));
            let signature = signature_of(image.bytes());
            if !matches!(signature, Ok(None)) {
                check("signature", signature.as_ref().err().map(ToString::to_string));
            }
            if let Some(policy) = &policy {
                let signer = signature.as_ref().map_err(|e| Refusal::from(*e)).and_then(|s| policy.judge(s.as_ref()));
                check("signer, by the policy", signer.err().map(|e| e.to_string()));
            }
            if image.parts().iter().any(|p| p.target == TARGET_MODEL) {
                check("the model part can run on a card", rehearse(&image));
            }
        }
    }
    let ok = checks.iter().all(|c| c.problem.is_none());
    let report = VerifyReport { schema: "rackloom.image-verify/1", image: name.to_owned(), checks, ok };
    cx.ui.result(&report, || {
        let line = |c: &Check| match &c.problem {
            None => format!("PASS  {}\n", c.what),
            Some(problem) => format!("FAIL  {}: {problem}\n", c.what),
        };
        report.checks.iter().map(line).collect()
    });
    Ok(if ok { Exit::Ok } else { Exit::Negative })
}

fn rehearse(image: &Image) -> Option<String> {
    let part = match image.part(TARGET_MODEL) {
        Ok(part) => part,
        Err(e) => return Some(e.to_string()),
    };
    WasmSandbox::default().prepare(image.manifest(), &part, MEMORY).err().map(|e| e.to_string())
}

/// Memory of the card on which an image is tried; only what is touched costs anything.
const MEMORY: u64 = 4 << 30;
