use std::collections::BTreeMap;
use std::time::Duration;

use http::{Method, Response};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::client::Body;
use serde_json::Value;
use tokio::time::timeout;

use super::answer::{Answer, Content};
use super::lines::Lines;
use super::normalise::Normaliser;
use super::script::{Case, Scope, Step, Until};
use super::side::Side;
use super::template::Known;

/// A group on one server: its namespace, and what was answered so far.
pub(super) struct Play<'a> {
    side: &'a Side,
    namespace: String,
    answers: BTreeMap<String, Value>,
    watches: BTreeMap<String, Lines>,
    normaliser: Normaliser,
}

/// No step takes longer.
const BOUND: Duration = Duration::from_secs(30);

// === impl Play ===

impl<'a> Play<'a> {
    pub(super) fn new(side: &'a Side, namespace: String) -> Self {
        Self {
            side,
            namespace,
            answers: BTreeMap::new(),
            watches: BTreeMap::new(),
            normaliser: Normaliser::new(Timestamp::now()),
        }
    }

    /// Plays one step. The answer has symbols in it; there is none for a step that sends
    /// nothing. An error is one of the script, or of the way to the server.
    pub(super) async fn step(&mut self, case: &Case) -> Result<Option<Answer>, String> {
        let place = |why: String| {
            let name = self.side.name;
            format!("{} ({name} server): {why}", case.place)
        };
        let answer = match timeout(BOUND, self.answer(case)).await {
            Ok(answer) => answer.map_err(place)?,
            Err(_) => {
                let name = self.side.name;
                let seconds = BOUND.as_secs();
                let place = &case.place;
                return Err(format!(
                    "{place} ({name} server): not done after {seconds} s"
                ));
            }
        };
        let Some(mut answer) = answer else {
            return Ok(None);
        };
        if let (Some(name), Step::Request(_) | Step::Watch(_) | Step::Read(_)) =
            (&case.name, &case.step)
        {
            let kept = match &answer.content {
                Content::Json(body) => body.clone(),
                Content::Events { events, .. } => events.clone().into(),
                Content::Text(_) | Content::Unread => Value::Null,
            };
            self.answers.insert(name.clone(), kept);
        }
        if case.scope == Scope::Head {
            answer.content = Content::Unread;
        }
        Ok(Some(self.normaliser.answer(&answer)))
    }

    async fn answer(&mut self, case: &Case) -> Result<Option<Answer>, String> {
        let name = case.name.as_deref();
        match &case.step {
            Step::Request(method) => {
                let (mut answer, body) = self.begin(case, method, "").await?;
                let body = body.collect().await.map_err(|error| error.to_string())?;
                answer.content = Content::of(&body.to_bytes());
                Ok(Some(answer))
            }
            Step::Watch(until) => self.watch(case, *until).await.map(Some),
            Step::Open => {
                let name = name.ok_or("OPEN needs an @name")?;
                let (answer, body) = self.begin(case, &Method::GET, "watch=true").await?;
                self.watches.insert(name.to_owned(), Lines::new(body));
                Ok(Some(answer))
            }
            Step::Read(until) => {
                let name = name.ok_or("READ needs an @name")?;
                let lines = self.watches.get_mut(name);
                let lines = lines.ok_or_else(|| format!("no watch is called `{name}`"))?;
                let mut answer = Answer::head(case.status, &http::HeaderMap::new());
                answer.content = lines.read(*until).await?;
                Ok(Some(answer))
            }
            Step::Compact => self.side.compact().await.map(|()| None),
        }
    }

    /// A refusal is an answer as any other.
    async fn watch(&mut self, case: &Case, until: Until) -> Result<Answer, String> {
        let (mut answer, body) = self.begin(case, &Method::GET, "watch=true").await?;
        answer.content = if answer.status == 200 {
            Lines::new(body).read(until).await?
        } else {
            let body = body.collect().await.map_err(|error| error.to_string())?;
            Content::of(&body.to_bytes())
        };
        Ok(answer)
    }

    async fn begin(
        &mut self,
        case: &Case,
        method: &Method,
        parameter: &str,
    ) -> Result<(Answer, Body), String> {
        let known = Known {
            namespace: &self.namespace,
            answers: &self.answers,
        };
        let mut target = known.fill(&case.target)?;
        if !parameter.is_empty() {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(parameter);
        }
        let body = known.fill(&case.body)?;
        self.normaliser.sent(&body);
        let response: Response<Body> = self.side.send(method, &target, &case.headers, body).await?;
        let answer = Answer::head(response.status().as_u16(), response.headers());
        Ok((answer, response.into_body()))
    }
}
