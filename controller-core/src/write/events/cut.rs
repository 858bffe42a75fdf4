use std::borrow::Cow;

/// What stands where something was cut off.
const ELLIPSIS: &str = "…";

/// `text` in at most `limit` bytes, which is what the server counts. No character is broken,
/// and a text that was cut ends with an ellipsis.
pub(super) fn cut(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text;
    }
    let mut kept = text.into_owned();
    kept.truncate(kept.floor_char_boundary(limit.saturating_sub(ELLIPSIS.len())));
    kept.push_str(ELLIPSIS);
    // What was much too long is kept for a while: not with its memory.
    kept.shrink_to_fit();
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cut("abcdef".into(), 6), "abcdef");
        assert_eq!(cut("äöü".into(), 6), "äöü");
    }

    #[test]
    fn a_cut_shows_and_breaks_no_character() {
        assert_eq!(cut("abcdefg".into(), 6), "abc…");
        // The boundary falls into the second letter.
        assert_eq!(cut("äöüß".into(), 6), "ä…");
        assert_eq!(cut("🦀🦀🦀".into(), 7), "🦀…");
    }

    proptest! {
        #[test]
        fn a_cut_is_never_too_long_and_always_a_prefix(text in any::<String>(), limit in 3_usize..40) {
            let kept = cut(text.as_str().into(), limit);
            prop_assert!(kept.len() <= limit);
            if text.len() <= limit {
                prop_assert_eq!(&*kept, &*text);
            } else {
                let prefix = kept.strip_suffix(ELLIPSIS);
                prop_assert!(prefix.is_some_and(|prefix| text.starts_with(prefix)));
                // Nothing is given away: one more character would be too many.
                let next = text[prefix.unwrap().len()..].chars().next().unwrap();
                prop_assert!(kept.len() + next.len_utf8() > limit);
            }
        }
    }
}
