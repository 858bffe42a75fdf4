use std::fs;
use std::thread::available_parallelism;

/// What the numbers were measured on, as far as the system tells.
pub(super) fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cores = available_parallelism().map_or(0, std::num::NonZero::get);
    describe(
        cores,
        &read("/proc/cpuinfo"),
        &read("/proc/meminfo"),
        &read("/proc/sys/kernel/osrelease"),
    )
}

fn describe(cores: usize, cpuinfo: &str, meminfo: &str, release: &str) -> String {
    let mut parts = vec![format!("{cores} cores")];
    parts.extend(field(cpuinfo, "model name").map(str::to_owned));
    parts.extend(field(meminfo, "MemTotal").and_then(gigabytes));
    let system = std::env::consts::OS;
    parts.push(format!("{system} {}", release.trim()).trim().to_owned());
    parts.join(", ")
}

/// What stands behind `name` and a colon in the first line of that name.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// `8053064 kB` in the unit that people think in.
fn gigabytes(kilobytes: &str) -> Option<String> {
    let number: f64 = kilobytes.strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{:.1} GiB", number / 1_048_576.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_one_line() {
        let text = describe(
            2,
            "processor\t: 0\nmodel name\t: Fast CPU @ 2.80GHz\nprocessor\t: 1\nmodel name\t: B\n",
            "MemTotal:        8053064 kB\nMemFree:  1 kB\n",
            "6.1.0\n",
        );
        let system = std::env::consts::OS;
        assert_eq!(
            text,
            format!("2 cores, Fast CPU @ 2.80GHz, 7.7 GiB, {system} 6.1.0")
        );
    }

    #[test]
    fn what_the_system_does_not_tell_is_left_out() {
        assert_eq!(
            describe(8, "", "MemTotal: lots", ""),
            format!("8 cores, {}", std::env::consts::OS)
        );
    }
}
