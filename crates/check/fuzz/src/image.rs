//! Images: valid ones with a few bytes wrong, with and without a tag that covers up for it.

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use rackloom_image::{ALIGN, ENTRY_BYTES, HEADER_BYTES, Image, ImageBuilder, Manifest};

/// Where the tag over the head begins, as the format's documentation says.
const TAG_AT: usize = 48;

/// A manifest that uses every field of the format.
const MANIFEST: &str = r#"{"name":"stencil","version":"1.0","description":"Two kernels.","clock_mhz":250,"kernels":[
 {"name":"add","args":["c","a","b","i","j"],"arrays":[
  {"name":"a","dtype":"f32","index":"ji","dir":"in"},{"name":"b","dtype":"f32","index":"ij","dir":"in"},
  {"name":"c","dtype":"f32","index":"ij","dir":"out"}],"tile":{"i":512,"j":512}},
 {"name":"blur","args":["d","s","i","j"],"arrays":[
  {"name":"s","dtype":"u8","index":"ij","dir":"in","halo":true},{"name":"d","dtype":"u8","index":"ij","dir":"out"}],
  "tile":{"i":64},"halo":{"i":1,"j":1}}]}"#;

/// A sound image with one to three parts of any contents.
pub(crate) fn sound(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let manifest = Manifest::from_json(MANIFEST.as_bytes()).expect("the example is sound");
    let mut builder = ImageBuilder::new(manifest);
    for target in &["model", "rtl", "ecp5-85f"][..u.int_in_range(1..=3)?] {
        let length = u.int_in_range(1..=300)?;
        builder = builder.part(target, (0..length).map(|_| u.arbitrary()).collect::<Result<_>>()?);
    }
    Ok(builder.build().expect("sound"))
}

/// Target: whatever the file, reading it does not panic; what is read lies inside the file and is what was put in; and
/// a file that was changed in any byte is refused, unless the tags were made to fit.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the reader breaks one of these promises.
pub fn read_image(u: &mut Unstructured<'_>) -> Result<()> {
    let original = sound(u)?;
    let mut file = original.clone();
    for _ in 0..u.int_in_range(0..=4)? {
        break_one(u, &mut file)?;
    }
    let covered = u.arbitrary()?;
    if covered {
        cover_up(&mut file);
    }
    let image = match Image::parse(Bytes::from(file.clone())) {
        Ok(image) => image,
        Err(error) => {
            assert_ne!(file, original, "a sound image is refused: {error}");
            assert!(!error.to_string().is_empty() && !error.code_name().is_empty());
            return Ok(());
        }
    };
    let mut end = HEADER_BYTES;
    for part in image.parts() {
        assert!(part.range.start.is_multiple_of(ALIGN) && part.range.start >= end && part.range.end <= file.len());
        end = part.range.end;
        match image.part(&part.target) {
            Ok(body) => assert_eq!(body[..], file[part.range.clone()]),
            Err(_) => assert_ne!(file, original),
        }
    }
    assert!(image.part("no-such").is_err());
    assert!(covered || file == original || image.verify().is_err(), "a changed byte was not noticed");
    check_manifest(image.manifest());
    Ok(())
}

/// Target: a manifest that is taken keeps its own rules and survives being written and read again.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the reader breaks one of these promises.
pub fn read_manifest(u: &mut Unstructured<'_>) -> Result<()> {
    let mut json = MANIFEST.as_bytes().to_vec();
    for _ in 0..u.int_in_range(1..=6)? {
        let at = u.choose_index(json.len())?;
        match u.int_in_range(0..=3)? {
            0 => json[at] = *u.choose(b"0123456789-\"{}[]:,aijkx. ")?,
            1 => json.insert(at, *u.choose(b"0123456789-\"{}[]:,aijkx. ")?),
            2 => drop(json.drain(at..(at + u.int_in_range(1..=40)?).min(json.len()))),
            // A piece from elsewhere: another kernel's field, a second array of the same name.
            _ => {
                let from = u.choose_index(json.len())?;
                let piece = json[from..(from + u.int_in_range(1..=60)?).min(json.len())].to_vec();
                json.splice(at..at, piece);
            }
        }
        if json.is_empty() {
            break;
        }
    }
    if let Ok(manifest) = Manifest::from_json(&json) {
        check_manifest(&manifest);
    }
    Ok(())
}

/// What holds for every manifest that is taken.
fn check_manifest(manifest: &Manifest) {
    manifest.validate().expect("a manifest that is read is sound");
    assert_eq!(&Manifest::from_json(&manifest.to_json()).expect("its own form"), manifest);
    for (number, kernel) in manifest.kernels.iter().enumerate() {
        assert_eq!(manifest.kernel(&kernel.name).map(|(n, k)| (n, k == kernel)), Some((number, true)));
        assert_eq!(kernel.resolved_args().count(), kernel.args.len());
        for array in &kernel.arrays {
            assert_eq!(kernel.array(&array.name), Some(array));
            assert!(array.dims().all(|dim| kernel.dims().contains(&dim)));
            assert!(array.halo || array.dims().all(|dim| kernel.halo_of(array, dim) == 0));
        }
    }
}

pub(crate) fn break_one(u: &mut Unstructured<'_>, file: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=5)? {
        0 if !file.is_empty() => {
            let at = u.choose_index(file.len())?;
            file[at] ^= 1 << u.int_in_range(0..=7)?;
        }
        // A number of the header or the table.
        1 | 2 if file.len() >= HEADER_BYTES + ENTRY_BYTES + 8 => {
            let at = u.choose_index(HEADER_BYTES + ENTRY_BYTES)?;
            let length = *u.choose(&[1, 2, 8])?;
            let value = *u.choose(&[0, 1, 63, 64, 128, u64::MAX, 1 << 63, u64::MAX - 63])?;
            file[at..at + length].copy_from_slice(&value.to_be_bytes()[8 - length..]);
        }
        3 => file.truncate(u.int_in_range(0..=file.len())?),
        4 => file.extend(vec![u.arbitrary::<u8>()?; *u.choose(&[1, 63, 64])?]),
        _ if !file.is_empty() => {
            let at = u.choose_index(file.len())?;
            file[at] = u.arbitrary()?;
        }
        _ => {}
    }
    Ok(())
}

/// Makes the head's tag fit what the header now says, so that the checks behind the tag are reached.
pub(crate) fn cover_up(file: &mut [u8]) {
    let number = |at: usize| {
        let bytes = file.get(at..at + 8)?;
        usize::try_from(u64::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    let head = || {
        let parts = usize::from(u16::from_be_bytes(file.get(12..14)?.try_into().ok()?));
        let (at, length) = (number(32)?, number(40)?);
        let mut hasher = blake3::Hasher::new();
        hasher.update(file.get(..TAG_AT)?);
        hasher.update(file.get(HEADER_BYTES..HEADER_BYTES + parts * ENTRY_BYTES)?);
        hasher.update(file.get(at..at.checked_add(length)?)?);
        Some(hasher.finalize())
    };
    if let Some(tag) = head().filter(|_| file.len() >= HEADER_BYTES) {
        file[TAG_AT..HEADER_BYTES].copy_from_slice(&tag.as_bytes()[..HEADER_BYTES - TAG_AT]);
    }
}
