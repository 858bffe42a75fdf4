use std::{fs, io};

/// The resident set of this process, in bytes. Linux only: it is read from `/proc`.
pub(crate) fn resident() -> io::Result<u64> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    let page_size = u64::try_from(rustix::param::page_size()).map_err(io::Error::other)?;
    match pages {
        Some(pages) => Ok(pages * page_size),
        None => Err(io::Error::other(format!(
            "an odd /proc/self/statm: {statm}"
        ))),
    }
}
