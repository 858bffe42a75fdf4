use std::fs;
use std::io;
use std::path::Path;

/// Reads a file that a person may have saved on Windows: UTF-8 with or without a
/// byte-order mark, or UTF-16 with one, which is what PowerShell's `>` writes.
pub(super) fn read(path: &Path) -> io::Result<String> {
    decode(&fs::read(path)?)
}

fn decode(bytes: &[u8]) -> io::Result<String> {
    let (utf16, units): (bool, Vec<u16>) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (true, units(rest, u16::from_le_bytes)?),
        [0xFE, 0xFF, rest @ ..] => (true, units(rest, u16::from_be_bytes)?),
        _ => (false, Vec::new()),
    };
    if utf16 {
        return String::from_utf16(&units).map_err(invalid);
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    String::from_utf8(bytes.to_vec()).map_err(|error| invalid(error.utf8_error()))
}

fn units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> io::Result<Vec<u16>> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return Err(invalid("half a UTF-16 character at its end"));
    };
    Ok(pairs.iter().copied().map(unit).collect())
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-20.
    #[test]
    fn every_encoding_that_windows_writes_is_read() {
        let text = "kind: Config\r\n# ü🦀\r\n";
        let with_bom = format!("\u{FEFF}{text}");
        let little: Vec<u8> = with_bom.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = with_bom.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [text.as_bytes(), with_bom.as_bytes(), &little, &big] {
            assert_eq!(decode(bytes).unwrap(), text, "{:x?}", &bytes[..4]);
        }
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        assert!(decode(b"\xFF\xFEa").is_err());
        assert!(decode(b"\xFF\xFE\x00\xD8").is_err());
        assert!(decode(b"kind: \xC3(").is_err());
    }
}
