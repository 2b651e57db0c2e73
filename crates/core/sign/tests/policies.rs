//! Who counts where, and what is too old.

use rackloom_sign::{
    Cards, NAME_MAX, Policy, PolicyError, ROLES_MAX, Refusal, Release, SIGNERS_MAX, Signature, SignatureError, Signer,
    SignerId, SignerKey, Versions, sign, signature_of,
};
use rackloom_wire::MacAddr;

const MAC: MacAddr = MacAddr([2, 0x91, 0, 0, 0, 3]);

fn id(n: u8) -> SignerId {
    SignerKey::new(&[n; 32]).id()
}

fn signer(name: &str, n: u8, cards: Cards) -> Signer {
    Signer { name: name.into(), key: id(n), cards }
}

fn only(macs: &[MacAddr], units: &[u16]) -> Cards {
    Cards::Only { macs: macs.iter().copied().collect(), units: units.iter().copied().collect() }
}

fn signature(n: u8) -> Signature {
    let bytes = rackloom_image::ImageBuilder::new(
        rackloom_image::Manifest::from_json(
            br#"{"name":"r","version":"1","kernels":[{"name":"k","args":[],"arrays":[]}]}"#,
        )
        .unwrap(),
    );
    let image = rackloom_image::Image::parse(bytes.part("model", vec![1]).build().unwrap().into()).unwrap();
    signature_of(&sign(&image, &SignerKey::new(&[n; 32]), 1).unwrap()).unwrap().unwrap()
}

#[test]
fn a_signer_counts_on_the_cards_that_name_it_and_on_no_other() {
    let policy = Policy::new(vec![
        signer("all", 1, Cards::All),
        signer("by-mac", 2, only(&[MAC], &[])),
        signer("by-unit", 3, only(&[], &[7])),
    ])
    .unwrap();
    let judge = |n: u8, mac: MacAddr, unit: u16| policy.of(mac, unit).judge(Some(&signature(n))).map(str::to_owned);
    let other = MacAddr([2; 6]);
    assert_eq!(judge(1, other, 0), Ok("all".into()));
    assert_eq!((judge(2, MAC, 0), judge(2, other, 0)), (Ok("by-mac".into()), Err(Refusal::NotFor("by-mac".into()))));
    assert_eq!((judge(3, other, 7), judge(3, MAC, 8)), (Ok("by-unit".into()), Err(Refusal::NotFor("by-unit".into()))));
    assert_eq!(judge(4, MAC, 7), Err(Refusal::Stranger(id(4))));
    assert_eq!(policy.of(MAC, 7).judge(None), Err(Refusal::Unsigned));
    assert_eq!(policy.judge(Some(&signature(3))).map(|s| s.name.as_str()), Ok("by-unit"));
    assert_eq!(policy.judge(Some(&signature(4))), Err(Refusal::Stranger(id(4))));
}

#[test]
fn a_policy_that_nobody_can_mean_is_refused() {
    assert!(matches!(Policy::new(vec![]), Err(PolicyError::Nobody(_))));
    assert!(matches!(Policy::new(vec![signer("a", 1, only(&[], &[]))]), Err(PolicyError::Nobody(_))));
    let twice = |a: Signer, b: Signer| Policy::new(vec![a, b]).unwrap_err().to_string();
    assert!(twice(signer("a", 1, Cards::All), signer("a", 2, Cards::All)).contains("name `a` twice"));
    assert!(twice(signer("a", 1, Cards::All), signer("b", 1, Cards::All)).contains("key `"));
    for name in ["", "A", "1a", "a b", "ä", &"a".repeat(NAME_MAX + 1)] {
        assert!(matches!(Policy::new(vec![signer(name, 1, Cards::All)]), Err(PolicyError::Name(_))), "{name}");
    }
    let crowd = (0..=SIGNERS_MAX).map(|n| signer(&format!("s{n}"), n as u8, Cards::All)).collect();
    assert!(matches!(Policy::new(crowd), Err(PolicyError::TooMany { .. })));
}

#[test]
fn nothing_older_than_what_has_run_runs() {
    let release = |n: u8, role: &str, version| Release { signer: id(n), role: role.into(), version };
    let mut versions = Versions::default();
    assert!(versions.raise(&release(1, "vadd", 5)));
    assert!(!versions.raise(&release(1, "vadd", 5)), "the same is nothing new");
    assert_eq!(versions.check(&release(1, "vadd", 4)), Err(Refusal::Older { version: 4, newest: 5 }));
    // Other roles, and other signers, count for themselves.
    assert_eq!(versions.check(&release(1, "gemm", 1)), Ok(()));
    assert_eq!(versions.check(&release(2, "vadd", 1)), Ok(()));
    // There is nothing above the highest, and it does not wrap.
    assert!(versions.raise(&release(1, "vadd", u64::MAX)));
    assert_eq!(versions.check(&release(1, "vadd", u64::MAX)), Ok(()));
    assert!(versions.check(&release(1, "vadd", 1)).is_err());
    let kept: Versions = versions.iter().collect();
    assert_eq!(kept, versions);
}

#[test]
fn a_card_remembers_so_many_roles_of_a_signer_and_takes_no_more() {
    let release = |n: u8, role: usize, version| Release { signer: id(n), role: format!("role{role}"), version };
    let mut versions: Versions = (0..ROLES_MAX).map(|role| release(1, role, 2)).collect();
    assert_eq!(versions.check(&release(1, ROLES_MAX, 1)), Err(Refusal::Full));
    assert!(versions.raise(&release(1, 0, 3)), "what is known can rise");
    assert!(versions.raise(&release(2, 0, 1)), "and others have their own room");
}

/// A refusal goes to the host in a frame's 64 bytes of text.
#[test]
fn every_refusal_fits_a_frame() {
    let malformed = ["it has not 128 bytes", "it is of no form known here", "a reserved byte is not zero", "version 0"];
    let wrong = [SignatureError::NotLast, SignatureError::Key, SignatureError::Wrong];
    let all = [
        Refusal::Unsigned,
        Refusal::Stranger(id(1)),
        Refusal::NotFor("n".repeat(NAME_MAX)),
        Refusal::Older { version: u64::MAX - 1, newest: u64::MAX },
        Refusal::Full,
    ];
    let texts = malformed.into_iter().map(SignatureError::Malformed).chain(wrong).map(Refusal::Signature).chain(all);
    for text in texts.map(|refusal| refusal.to_string()) {
        assert!(text.len() <= 64 && text.is_ascii(), "{text}: {}", text.len());
    }
}
