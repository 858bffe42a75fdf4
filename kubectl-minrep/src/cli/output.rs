use clap::ValueEnum;

/// `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputArg {
    /// For programs: `docs/output.md` describes it.
    Json,
    /// What was changed, or would be, in kubectl's `TYPE/NAME`, for the next command of a pipe.
    Name,
    /// For people: what was changed, or was to be.
    Table,
    /// For people: everything that was looked at, and why.
    Wide,
    /// What `Json` is, as YAML.
    Yaml,
}

/// Reads one of `allowed`; a refusal is in kubectl's words, and names them.
pub(super) fn parse_output(
    allowed: &'static [OutputArg],
) -> impl Fn(&str) -> Result<OutputArg, String> + Clone + Send + Sync + 'static {
    move |text| {
        OutputArg::from_str(text, true)
            .ok()
            .filter(|output| allowed.contains(output))
            .ok_or_else(|| {
                format!(
                    "unable to match a printer suitable for the output format {text:?}, \
                     allowed formats are: {}",
                    names(allowed)
                )
            })
    }
}

fn names(allowed: &[OutputArg]) -> String {
    let values = allowed.iter().filter_map(OutputArg::to_possible_value);
    let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    names.join(",")
}
