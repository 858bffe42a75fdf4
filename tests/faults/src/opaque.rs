//! resourceVersions that tell nothing: no number, no order.

mod request;
mod rewriter;

pub(crate) use self::{request::reveal_request, rewriter::Rewriter};

/// How long every opaque text is.
const LENGTH: usize = 20;

/// Four bits each: 64 of them are the mixed number and 16 prove that it was made here.
const LETTERS: &[u8; 16] = b"bcdfghjklmnpqrst";

/// The opaque text of a resourceVersion; `None` for `0`, which means "any", and for what is no number.
pub(crate) fn hide(revision: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(revision).ok()?;
    let number: u64 = text.parse().ok().filter(|number| *number > 0)?;
    // Other spellings of it could not be told from this one later.
    if text.starts_with(['0', '+']) {
        return None;
    }
    let mut bits = (u128::from(mix(number)) << 16) | u128::from(proof(number));
    let mut letters = vec![0; LENGTH];
    for letter in letters.iter_mut().rev() {
        *letter = LETTERS[usize::from(bits as u8 & 15)];
        bits >>= 4;
    }
    Some(letters)
}

/// The resourceVersion that an opaque text stands for; `None` for a text that was not made by [`hide`].
pub(crate) fn reveal(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() != LENGTH {
        return None;
    }
    let mut bits: u128 = 0;
    for letter in text {
        let value = LETTERS.iter().position(|known| known == letter)?;
        bits = (bits << 4) | value as u128;
    }
    let number = unmix((bits >> 16) as u64);
    (proof(number) == bits as u16).then(|| number.to_string().into_bytes())
}

/// A Feistel network: whatever the round function, it has an inverse, so that no two numbers become one.
fn mix(number: u64) -> u64 {
    let (mut left, mut right) = ((number >> 32) as u32, number as u32);
    for round in 0..ROUNDS {
        (left, right) = (right, left ^ stir(right, round));
    }
    (u64::from(left) << 32) | u64::from(right)
}

fn unmix(mixed: u64) -> u64 {
    let (mut left, mut right) = ((mixed >> 32) as u32, mixed as u32);
    for round in (0..ROUNDS).rev() {
        (left, right) = (right ^ stir(left, round), left);
    }
    (u64::from(left) << 32) | u64::from(right)
}

const ROUNDS: u32 = 6;

fn stir(half: u32, round: u32) -> u32 {
    let half = half.wrapping_add(round.wrapping_mul(0x9e37_79b9));
    (half ^ (half >> 15))
        .wrapping_mul(0x85eb_ca6b)
        .rotate_left(13)
        .wrapping_mul(0xc2b2_ae35)
}

fn proof(number: u64) -> u16 {
    (mix(!number) >> 24) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hidden(revision: &str) -> Option<String> {
        Some(String::from_utf8(hide(revision.as_bytes())?).unwrap())
    }

    #[test]
    fn neighbours_have_nothing_in_common() {
        let texts: Vec<_> = ["1", "2", "3", "1000", "18446744073709551615"]
            .map(|revision| hidden(revision).unwrap())
            .into();
        insta::assert_snapshot!(texts.join("\n"), @r"
pkffrtcqhtjctcmjqcrl
rlmtgfjlmdrfchllsfhn
pljkggdpjphhcfbhshgr
qdqcngjjclpnddhhmjjn
hpsqjsqqpjfppcknsddn
");
        assert!(!texts.is_sorted());
    }

    #[test]
    fn what_is_no_version_stays() {
        for text in [
            "",
            "0",
            "007",
            "+7",
            "-7",
            "7a",
            "18446744073709551616",
            "bcdfghjklmnpqrstbcdf",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
        for text in ["", "7", "bcdfghjklmnpqrstbcdf", "BCDFGHJKLMNPQRSTBCDF"] {
            assert_eq!(reveal(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_version_comes_back(number in 1..u64::MAX) {
            let revision = number.to_string();
            let text = hidden(&revision).unwrap();
            prop_assert!(text.len() == LENGTH && text.bytes().all(|byte| LETTERS.contains(&byte)));
            prop_assert_eq!(reveal(text.as_bytes()), Some(revision.into_bytes()));
        }
    }
}
