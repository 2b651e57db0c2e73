//! Images by file, or by the name of a built-in role.

use std::io::ErrorKind;
use std::path::Path;

use bytes::Bytes;
use rackloom_image::{Image, Kernel};

use crate::failure::{Explain, Failure, Result};

/// Finds an image and checks its head. Its parts are checked where they are used.
pub(crate) fn find(name: &str) -> Result<Image> {
    if let Some(image) = rackloom_builtin_roles::image(name) {
        return parse(name, Bytes::from_static(image));
    }
    match std::fs::read(name) {
        Ok(bytes) => parse(name, bytes.into()),
        Err(e) if e.kind() == ErrorKind::NotFound && !looks_like_file(name) => Err(unknown(name)),
        Err(e) => Err(e).during(format!("cannot read the image {name}")),
    }
}

/// Finds the image, the kernel's number and the kernel of `ROLE` or `ROLE/KERNEL`. Without a name the kernel is the
/// only one, or the one named like the role.
pub(crate) fn find_kernel(role: &str) -> Result<(Image, u16, Kernel)> {
    let whole_is_image = rackloom_builtin_roles::image(role).is_some() || Path::new(role).is_file();
    let (name, kernel) = match role.rsplit_once('/') {
        Some((name, kernel)) if !whole_is_image => (name, Some(kernel)),
        _ => (role, None),
    };
    let image = find(name)?;
    let manifest = image.manifest();
    let found = match kernel {
        Some(kernel) => manifest.kernel(kernel),
        None if manifest.kernels.len() == 1 => manifest.kernels.first().map(|k| (0, k)),
        None => manifest.kernel(&manifest.name),
    };
    let (number, kernel) = found.ok_or_else(|| {
        let names = manifest.kernels.iter().map(|k| k.name.as_str());
        let help = match kernel.and_then(|k| nearest(k, names.clone())) {
            Some(near) => format!("did you mean `{name}/{near}`?"),
            None => format!("its kernels are {}", names.collect::<Vec<_>>().join(", ")),
        };
        match kernel {
            Some(kernel) => Failure::new(format!("role {} has no kernel `{kernel}`", manifest.name)).help(help),
            None => Failure::new(format!("role {} has several kernels", manifest.name)).help(help),
        }
    })?;
    Ok((image.clone(), u16::try_from(number).expect("at most 64 kernels"), kernel.clone()))
}

/// The name of the built-in role whose image has this digest.
pub(crate) fn name_of(digest: &[u8; 32]) -> Option<&'static str> {
    rackloom_builtin_roles::names().find(|name| {
        rackloom_builtin_roles::image(name)
            .and_then(|bytes| Image::parse(Bytes::from_static(bytes)).ok())
            .is_some_and(|image| image.digest() == *digest)
    })
}

fn parse(name: &str, bytes: Bytes) -> Result<Image> {
    Image::parse(bytes).map_err(|e| {
        let help = format!("{}: `rackloom image build` builds images", e.code_name());
        Failure::of(&e).during(format!("{name} is not a valid image")).help(help)
    })
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['/', '.'])
}

fn unknown(name: &str) -> Failure {
    let help = match nearest(name, rackloom_builtin_roles::names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let names: Vec<_> = rackloom_builtin_roles::names().collect();
            format!("name a file, or one of the built-in roles: {}", names.join(", "))
        }
    };
    Failure::new(format!("no file and no built-in role is named `{name}`")).help(help)
}

/// The name that is only a typo away.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.map(|n| (distance(name, n), n)).min().filter(|(d, _)| *d <= 1 + name.len() / 4).map(|(_, n)| n)
}

/// Letters to insert, delete or replace to turn one into the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognised() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert!(unknown("ptrns").help.unwrap().contains("did you mean `ptrans`?"));
        let help = unknown("something").help.unwrap();
        assert!(rackloom_builtin_roles::names().all(|name| help.contains(name)), "{help}");
    }

    #[test]
    fn kernels_are_found_by_role_and_by_name() {
        assert_eq!(find_kernel("vadd").unwrap().2.name, "vadd");
        assert_eq!(find_kernel("ptrans/ptrans").unwrap().1, 0);
        let f = find_kernel("ptrans/ptran").unwrap_err();
        assert_eq!(f.help.as_deref(), Some("did you mean `ptrans/ptrans`?"));
        assert!(find("./nowhere.rli").unwrap_err().what.contains("cannot read"));
    }
}
