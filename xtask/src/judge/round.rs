use super::answer::{Answer, Content, End};
use super::compare::{comparable, differences};
use super::kept::Kept;
use super::play::Play;
use super::report::{self, GroupReport};
use super::script::{Case, Group, Step, Until};
use super::side::Side;

/// A group as both servers have answered it.
pub(super) struct Round<'a> {
    file: &'static str,
    group: &'a Group,
    namespace: Case,
    /// For each step that is answered; the first is the namespace.
    answers: Vec<(Option<&'a Case>, Answer, Answer)>,
}

/// What a round comes to.
pub(super) struct Verdict {
    pub(super) report: GroupReport,
    /// What there is to read beside it.
    pub(super) text: String,
}

// === impl Round ===

impl<'a> Round<'a> {
    /// Plays a group on both servers at once, step by step.
    pub(super) async fn play(
        real: &Side,
        simulated: &Side,
        file: &'static str,
        group: &'a Group,
    ) -> Result<Self, String> {
        let namespace = group.namespace();
        let mut plays = (
            Play::new(real, namespace.clone()),
            Play::new(simulated, namespace),
        );
        let namespace = Case::namespace();
        let mut answers = Vec::new();
        let cases = group.cases.iter().map(Some);
        for case in [None].into_iter().chain(cases) {
            let step = case.unwrap_or(&namespace);
            let (real, simulated) = tokio::join!(plays.0.step(step), plays.1.step(step));
            if let (Some(real), Some(simulated)) = (real?, simulated?) {
                answers.push((case, comparable(real, &simulated, step.scope), simulated));
            }
        }
        Ok(Self {
            file,
            group,
            namespace,
            answers,
        })
    }

    /// Compares what was answered. With `all`, there is every answer to read.
    pub(super) fn judge(&self, kept: &mut Kept, all: bool) -> Verdict {
        let mut report = GroupReport {
            file: self.file.to_owned(),
            title: self.group.title.clone(),
            ..GroupReport::default()
        };
        let mut text = String::new();
        for (case, real, simulated) in &self.answers {
            let case = case.unwrap_or(&self.namespace);
            report.requests += usize::from(!matches!(case.step, Step::Read(_)));
            report.watches += usize::from(matches!(case.step, Step::Watch(_) | Step::Open));
            if let Content::Events { events, .. } = &real.content {
                report.events += events.len();
            }
            if all {
                text.push_str(&report::answers(case, real, simulated));
            }
            let id = case.id(self.group);
            let mut found = differences(real, simulated);
            let differs = !found.is_empty();
            found.retain(|difference| !kept.explains(&id, difference));
            found.extend(mistakes(case, real));
            match (differs, found.as_slice()) {
                (false, []) => report.same += 1,
                (true, []) => report.kept += 1,
                (_, found) => {
                    report.different += 1;
                    text.push_str(&report::difference(case, found, real, simulated));
                }
            }
        }
        Verdict { report, text }
    }
}

/// Where the script is wrong about the real server: a mistyped path is not found on either.
fn mistakes(case: &Case, real: &Answer) -> Vec<String> {
    let mut mistakes = Vec::new();
    // What is read of an open watch has no status of its own.
    if !matches!(case.step, Step::Read(_)) && real.status != case.status {
        let (expected, answered) = (case.status, real.status);
        mistakes.push(format!(
            "the script says {expected}, the real server {answered}"
        ));
    }
    let wanted = match &case.step {
        Step::Watch(Until::Events(_)) | Step::Read(Until::Events(_)) => End::Enough,
        _ => End::Closed,
    };
    if let Content::Events { end, .. } = &real.content
        && *end != wanted
    {
        mistakes.push("the script waits for events that do not come, or for an end".to_owned());
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::judge::fixtures::Fixtures;

    fn answer(status: u16, content: Content) -> Answer {
        let mut answer = Answer::head(status, &HeaderMap::new());
        answer.content = content;
        answer
    }

    fn group(line: &str) -> Group {
        let fixtures = Fixtures::parse("{}").unwrap();
        let mut groups = Group::parse("a.http", &format!("== A\n\n{line}\n"), &fixtures).unwrap();
        groups.remove(0)
    }

    fn judge(line: &str, real: Answer, simulated: Answer, table: &str) -> (Verdict, Vec<String>) {
        let group = group(line);
        let round = Round {
            file: "a.http",
            namespace: Case::namespace(),
            answers: vec![(Some(&group.cases[0]), real, simulated)],
            group: &group,
        };
        let mut kept = Kept::parse(table).unwrap();
        let verdict = round.judge(&mut kept, false);
        (verdict, kept.stale())
    }

    fn body(replicas: u8) -> Content {
        Content::Json(json!({"replicas": replicas}))
    }

    #[test]
    fn the_same_is_the_same_and_anything_else_is_a_failure() {
        let line = "200 GET /a";
        let (verdict, _) = judge(line, answer(200, body(1)), answer(200, body(1)), "[]");
        assert_eq!((verdict.report.same, verdict.report.different), (1, 0));
        assert_eq!(verdict.text, "");
        let (verdict, _) = judge(line, answer(200, body(1)), answer(200, body(2)), "[]");
        assert_eq!((verdict.report.same, verdict.report.different), (0, 1));
        assert!(
            verdict
                .text
                .starts_with("a.http:3: 200 GET /a\n  body.replicas: 1 | 2\n")
        );
    }

    #[test]
    fn a_table_explains_what_it_names_and_nothing_beside_it() {
        let table = "[{what: a, why: b, cases: ['A: *'], differences: ['body.replicas: 1 | 2']}]";
        let line = "200 GET /a";
        let (verdict, stale) = judge(line, answer(200, body(1)), answer(200, body(2)), table);
        assert_eq!((verdict.report.kept, verdict.report.different), (1, 0));
        assert_eq!(stale, [""; 0]);
        let (verdict, stale) = judge(line, answer(200, body(1)), answer(200, body(3)), table);
        assert_eq!((verdict.report.kept, verdict.report.different), (0, 1));
        assert_eq!(stale.len(), 2);
    }

    #[test]
    fn both_being_wrong_alike_is_a_failure_of_the_script() {
        let both = answer(404, body(1));
        let (verdict, _) = judge("200 GET /a", both.clone(), both, "[]");
        assert_eq!(verdict.report.different, 1);
        let expected = "  the script says 200, the real server 404\n";
        assert!(verdict.text.contains(expected), "{}", verdict.text);

        let silent = answer(
            200,
            Content::Events {
                events: vec![],
                end: End::Silent,
            },
        );
        let (verdict, _) = judge("200 WATCH 1 /a", silent.clone(), silent, "[]");
        assert_eq!(verdict.report.different, 1);
    }
}
