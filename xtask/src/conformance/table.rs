use std::time::Duration;

use crate::test::Tally;

/// How the rows went in one way.
#[derive(Debug)]
pub(super) struct Row {
    /// `on` or `off`.
    pub(super) way: &'static str,
    pub(super) tally: Tally,
    pub(super) took: Duration,
}

pub(super) fn table(rows: &[Row]) -> String {
    let mut text = "streaming lists   passed   failed   seconds\n".to_owned();
    for Row { way, tally, took } in rows {
        let Tally { passed, failed } = tally;
        let seconds = took.as_secs_f64();
        text += &format!("{way:<15} {passed:>8} {failed:>8} {seconds:>9.1}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_way() {
        let row = |way, passed, failed| Row {
            way,
            tally: Tally { passed, failed },
            took: Duration::from_millis(61_240),
        };
        insta::assert_snapshot!(table(&[row("on", 25, 0), row("off", 9, 16)]), @r"
        streaming lists   passed   failed   seconds
        on                    25        0      61.2
        off                    9       16      61.2
        ");
    }
}
