/// The commands of a session file, section by section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) sections: Vec<Section>,
}

/// Commands that belong together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) steps: Vec<Step>,
}

/// One command and what is to come of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// Its line in the file, from 1.
    pub(super) line: usize,
    /// What follows the word `kubectl`.
    pub(super) arguments: Vec<String>,
    pub(super) code: i32,
    /// Stdout and stderr, without the newline at the end.
    pub(super) output: String,
}

// === impl Session ===

impl Session {
    /// Reads a session file. An error names the line that makes no sense.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut sections: Vec<Section> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: &str| format!("line {number}: {what}");
            if let Some(title) = line.strip_prefix("## ") {
                sections.push(Section {
                    title: title.to_owned(),
                    steps: Vec::new(),
                });
                continue;
            }
            if line.starts_with('#') {
                continue;
            }
            let section = sections.last_mut();
            if let Some(command) = line.strip_prefix("$ ") {
                let section = section.ok_or_else(|| wrong("a command before the first section"))?;
                let words = shlex::split(command).ok_or_else(|| wrong("a quote is not closed"))?;
                let arguments = words.strip_prefix(&["kubectl".to_owned()][..]);
                let arguments = arguments.ok_or_else(|| wrong("only kubectl can be called"))?;
                section.steps.push(Step {
                    line: number,
                    arguments: arguments.to_vec(),
                    ..Step::default()
                });
                continue;
            }
            match section.and_then(|section| section.steps.last_mut()) {
                Some(step) => step.read_line(line).map_err(|what| wrong(&what))?,
                None if line.is_empty() => {}
                None => return Err(wrong("an output without a command")),
            }
        }
        for step in sections.iter_mut().flat_map(|section| &mut section.steps) {
            step.output.truncate(step.output.trim_end().len());
        }
        Ok(Self { sections })
    }
}

// === impl Step ===

impl Step {
    fn read_line(&mut self, line: &str) -> Result<(), String> {
        match line.strip_prefix("? ") {
            Some(code) if self.output.is_empty() => {
                self.code = code
                    .parse()
                    .map_err(|_| format!("`{code}` is no exit code"))?;
            }
            _ => {
                self.output.push_str(line);
                self.output.push('\n');
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_step_by_step() {
        let text = "# For the reader.\n\n## One\n\
            $ kubectl patch deploy web -p '{\"a b\": 1}'\n? 1\nfirst\n\nsecond\n\n# More.\n$ kubectl version\n\
            ## Two\n";
        let session = Session::parse(text).unwrap();
        let step = |line, arguments: &[&str], code, output: &str| Step {
            line,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            code,
            output: output.to_owned(),
        };
        assert_eq!(
            session.sections,
            [
                Section {
                    title: "One".to_owned(),
                    steps: vec![
                        step(
                            4,
                            &["patch", "deploy", "web", "-p", "{\"a b\": 1}"],
                            1,
                            "first\n\nsecond"
                        ),
                        step(11, &["version"], 0, ""),
                    ],
                },
                Section {
                    title: "Two".to_owned(),
                    steps: vec![],
                },
            ]
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        for (text, refusal) in [
            (
                "$ kubectl version",
                "line 1: a command before the first section",
            ),
            ("## A\n$ kubectl get 'x", "line 2: a quote is not closed"),
            ("## A\n$ rm -r x", "line 2: only kubectl can be called"),
            ("## A\nout", "line 2: an output without a command"),
            ("## A\n$ kubectl x\n? one", "line 3: `one` is no exit code"),
        ] {
            assert_eq!(Session::parse(text).unwrap_err(), refusal);
        }
    }

    #[test]
    fn the_session_of_this_repository_can_be_read() {
        let session = Session::parse(super::super::run::SESSION).unwrap();
        for section in &session.sections {
            assert!(!section.steps.is_empty(), "{}", section.title);
        }
    }

    /// Any other is compared line by line on every provider. What is open here depends on
    /// the version of kubectl, on time, or on what else the cluster has.
    #[test]
    fn few_answers_are_compared_in_part() {
        let session = Session::parse(super::super::run::SESSION).unwrap();
        let steps = session.sections.iter().flat_map(|section| &section.steps);
        let open = steps.filter(|step| step.output.lines().any(|line| line == "..."));
        let open: Vec<String> = open.map(|step| step.arguments.join(" ")).collect();
        insta::assert_snapshot!(open.join("\n"), @"
version
api-versions
api-resources --api-group=apps
explain deployment.spec.replicas
rollout status deployment/quick -n shop
rollout status deployment web -n shop
rollout status deployment/web -n shop --timeout=30s
get deployments -n shop -o json --chunk-size=1
describe deployment web -n shop
rollout status deployment web -n shop --timeout=30s
rollout status deployment web -n shop --timeout=30s
rollout status deployment web -n shop --timeout=30s
events -n shop --for=deployment/web --types=Normal
delete configmaps --all -n shop
");
    }
}
