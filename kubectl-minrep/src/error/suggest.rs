//! Did you mean…?

/// The candidate that `typed` was probably meant to be: at most two slips away, and less
/// than half of it changed.
pub fn did_you_mean<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let most = 2.min(typed.chars().count() / 2);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(typed, candidate), candidate))
        .filter(|(slips, _)| (1..=most).contains(slips))
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["dev", "prod", "staging", "shop"];
        assert_eq!(did_you_mean("prdo", known), Some("prod"));
        assert_eq!(did_you_mean("shpo", known), Some("shop"));
        assert_eq!(did_you_mean("stagign", known), Some("staging"));
        assert_eq!(did_you_mean("live", known), None);
        assert_eq!(did_you_mean("x", known), None);
        assert_eq!(did_you_mean("", known), None);
    }
}
