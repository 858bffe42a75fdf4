use std::cmp::Ordering;

/// Compares two resource versions, where both are numbers.
///
/// Kubernetes promises since KEP-5504 that its own resource versions are decimal
/// numbers of any length, without leading zeros, that grow with every write. An
/// aggregated server may still use opaque ones: those can be compared for equality only, by
/// `==`, and the answer here is `None`. So it is for `0` and the empty text, which are
/// questions ("any version", "the newest") and no versions.
///
/// What `None` means is up to the caller. This crate fails open: what cannot be shown to be
/// older is taken for news, because dropping real news would freeze a cache.
///
/// The dangerous mistake is to compare them as text: `"9" > "10"`.
///
/// ```
/// use std::cmp::Ordering;
/// use controller_core::watch::compare_resource_versions;
///
/// assert_eq!(compare_resource_versions("9", "10"), Some(Ordering::Less));
/// assert_eq!(compare_resource_versions("a1", "a2"), None);
/// assert_eq!(compare_resource_versions("0", "10"), None, "0 means any version");
/// ```
pub fn compare_resource_versions(a: &str, b: &str) -> Option<Ordering> {
    if is_number(a) && is_number(b) {
        Some(a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
    } else {
        None
    }
}

/// Whether `a` is known to be older than `b`.
pub(crate) fn is_older(a: &str, b: &str) -> bool {
    compare_resource_versions(a, b) == Some(Ordering::Less)
}

/// Whether `a` says more than `b`: it is a version, another one, and not a known older
/// one. The empty text and `0` are no versions: to a server they mean "the newest" and
/// "any", so whoever resumed at one could go back in time.
pub(crate) fn advances(a: &str, b: &str) -> bool {
    !matches!(a, "" | "0") && a != b && !is_older(a, b)
}

fn is_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RV-01.
    #[test]
    fn numbers_of_any_length_compare_by_value() {
        assert_eq!(
            compare_resource_versions("10", "9"),
            Some(Ordering::Greater)
        );
        assert_eq!(compare_resource_versions("7", "7"), Some(Ordering::Equal));
        assert_eq!(
            compare_resource_versions("99999999999999999999998", "99999999999999999999999"),
            Some(Ordering::Less)
        );
    }

    #[test]
    fn what_is_no_version_never_advances() {
        for (a, b) in [("", "9"), ("0", "9"), ("", ""), ("9", "9"), ("9", "10")] {
            assert!(!advances(a, b), "{a:?} {b:?}");
        }
        for (a, b) in [
            ("10", "9"),
            ("9", ""),
            ("9", "x1"),
            ("x1", "9"),
            ("x1", "x2"),
        ] {
            assert!(advances(a, b), "{a:?} {b:?}");
        }
    }

    /// RV-01.
    #[test]
    fn what_is_no_number_does_not_compare() {
        for odd in ["", "0", "01", "1a", "-1", " 1"] {
            assert_eq!(compare_resource_versions(odd, "1"), None, "{odd:?}");
            assert_eq!(compare_resource_versions("1", odd), None, "{odd:?}");
        }
    }
}
