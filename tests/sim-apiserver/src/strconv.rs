//! Numbers, refused in the words of Go's `strconv`.

/// Why Go's `function` (`ParseInt`, `ParseUint`) does not take `text`, which is known to be no number that fits.
pub(crate) fn refusal(function: &str, text: &str) -> String {
    let digits = match text.strip_prefix(['+', '-']) {
        Some(digits) if function == "ParseInt" => digits,
        _ => text,
    };
    let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if number {
        "value out of range"
    } else {
        "invalid syntax"
    };
    format!("strconv.{function}: parsing {text:?}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_told_from_what_is_no_number() {
        for (function, text, why) in [
            ("ParseInt", "99999999999999999999", "value out of range"),
            ("ParseInt", "-99999999999999999999", "value out of range"),
            ("ParseUint", "18446744073709551616", "value out of range"),
            ("ParseUint", "-1", "invalid syntax"),
            ("ParseInt", "", "invalid syntax"),
            ("ParseInt", "1x", "invalid syntax"),
        ] {
            let refusal = refusal(function, text);
            assert_eq!(
                refusal,
                format!("strconv.{function}: parsing {text:?}: {why}")
            );
        }
    }
}
