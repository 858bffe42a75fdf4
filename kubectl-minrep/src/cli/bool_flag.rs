//! Switches as kubectl's flag library reads them: `-A`, `-A=true`, `-A=false`.
//!
//! clap's own switch refuses `=true`, which scripts written for kubectl do use.

/// The value of a switch, in the spellings that Go's `strconv.ParseBool` takes.
pub(super) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("must be true or false".into()),
    }
}
