//! The layer around a service that counts its calls and answers five lines.

#[cfg(test)]
mod around_a_service {
    use std::{
        convert::Infallible,
        io,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
        time::Duration,
    };

    use bytes::Bytes;
    use faults::{
        Action, BoxError, FaultBody, Faults, Past, ResetSwitch, Rule, ServerFaults, StreamFault,
        Verb,
    };
    use http::{Request, Response, StatusCode, header};
    use http_body_util::{BodyExt, Full};
    use tokio::time::{Instant, timeout};
    use tower::{Layer, ServiceExt, service_fn};

    const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";
    const WATCH: &str = "/apis/apps/v1/deployments?watch=1";

    type Answer = Result<Response<FaultBody<Full<Bytes>>>, BoxError>;

    struct Stand {
        faults: Faults,
        calls: Arc<AtomicU64>,
        reset: ResetSwitch,
    }

    impl Stand {
        fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
            let faults = Faults::new(rules.into_iter().collect());
            Self {
                faults,
                calls: Arc::default(),
                reset: ResetSwitch::default(),
            }
        }

        fn calls(&self) -> u64 {
            self.calls.load(Ordering::Relaxed)
        }

        async fn ask(&self, method: &str, path: &str) -> Answer {
            let calls = Arc::clone(&self.calls);
            let service = service_fn(move |_: Request<Bytes>| {
                calls.fetch_add(1, Ordering::Relaxed);
                let response = Response::builder().header(header::CONTENT_LENGTH, LINES.len());
                async move { Ok::<_, Infallible>(response.body(Full::from(LINES)).expect("a response")) }
            });
            let mut request = Request::builder()
                .method(method)
                .uri(path)
                .body(Bytes::new())
                .unwrap();
            request.extensions_mut().insert(self.reset.clone());
            self.faults.layer().layer(service).oneshot(request).await
        }

        /// The body, and how it ended if not well.
        async fn body(&self, path: &str) -> (String, Option<io::ErrorKind>) {
            let mut body = self.ask("GET", path).await.unwrap().into_body();
            let mut text = String::new();
            loop {
                match body.frame().await {
                    None => return (text, None),
                    Some(Ok(frame)) => {
                        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
                    }
                    Some(Err(error)) => {
                        let error = error.downcast::<io::Error>().expect("an I/O error");
                        return (text, Some(error.kind()));
                    }
                }
            }
        }
    }

    #[tokio::test]
    async fn what_no_rule_is_about_passes_untouched() {
        let stand = Stand::new([Rule::new(Action::Hang).verb(Verb::Patch)]);
        let response = stand.ask("GET", WATCH).await.unwrap();
        assert_eq!(
            response.headers()[header::CONTENT_LENGTH],
            LINES.len().to_string()
        );
        assert_eq!(stand.body(WATCH).await, (LINES.to_owned(), None));
        assert_eq!(stand.faults.counts()[0].matched, 0);
    }

    #[tokio::test]
    async fn a_made_up_answer_does_not_reach_the_service() {
        let stand = Stand::new([Rule::new(Action::status(503).reason("Down").message("no"))]);
        let response = stand.ask("GET", WATCH).await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let status: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&status["reason"], &status["message"]),
            (&"Down".into(), &"no".into())
        );
        assert_eq!(
            (&status["kind"], &status["code"]),
            (&"Status".into(), &503.into())
        );
        assert_eq!(stand.calls(), 0);
    }

    #[tokio::test]
    async fn a_lost_answer_reaches_the_service_and_a_reset_does_not() {
        for (action, calls) in [(Action::LostAnswer, 1), (Action::Reset, 0)] {
            let stand = Stand::new([Rule::new(action)]);
            let error = stand
                .ask("PATCH", "/api/v1/namespaces/a")
                .await
                .expect_err("no answer");
            let error = error.downcast::<io::Error>().expect("an I/O error");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            assert!(stand.reset.is_tripped());
            assert_eq!(stand.calls(), calls);
        }
    }

    #[tokio::test]
    async fn a_false_answer_hides_what_the_service_did() {
        let refused = Action::status(500).message("etcd took too long");
        let stand = Stand::new([Rule::new(Action::false_answer(refused))]);
        let response = stand.ask("PATCH", "/api/v1/namespaces/a").await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let status: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status["message"], "etcd took too long");
        assert_eq!((stand.calls(), stand.reset.is_tripped()), (1, false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_comes_before_the_call_or_after_it() {
        let second = Duration::from_secs(1);
        for (action, calls) in [(Action::Delay(second), 0), (Action::DelayAnswer(second), 1)] {
            let stand = Stand::new([Rule::new(action)]);
            let started = Instant::now();
            let early = timeout(second / 2, stand.ask("GET", WATCH)).await;
            assert!(early.is_err());
            assert_eq!(stand.calls(), calls);
            stand.ask("GET", WATCH).await.unwrap();
            assert_eq!(started.elapsed(), second + second / 2);
        }
    }

    #[tokio::test]
    async fn a_body_is_cut_after_lines() {
        let clean = Stand::new([Rule::new(Action::cut_after_events(2))]);
        assert_eq!(clean.body(WATCH).await, ("one\ntwo\n".to_owned(), None));
        assert!(!clean.reset.is_tripped());
        let response = clean.ask("GET", WATCH).await.unwrap();
        assert!(
            !response.headers().contains_key(header::CONTENT_LENGTH),
            "it would be a lie"
        );

        let reset = Stand::new([Rule::new(Action::cut_after_events(2).with_reset())]);
        let cut = (
            "one\ntwo\n".to_owned(),
            Some(io::ErrorKind::ConnectionReset),
        );
        assert_eq!(reset.body(WATCH).await, cut);
        assert!(reset.reset.is_tripped());

        let torn = Stand::new([Rule::new(Action::cut_after_events(2).torn())]);
        let cut = ("one\ntwo\n".to_owned(), Some(io::ErrorKind::UnexpectedEof));
        assert_eq!(torn.body(WATCH).await, cut);
        assert!(!torn.reset.is_tripped());
        assert_eq!(
            Stand::new([Rule::new(Action::cut_after_events(9))])
                .body(WATCH)
                .await
                .0,
            LINES
        );
        assert_eq!(
            Stand::new([Rule::new(Action::cut_after_events(0))])
                .body(WATCH)
                .await
                .0,
            ""
        );
    }

    #[tokio::test]
    async fn lines_are_truncated_replaced_and_expired() {
        let body = async |action: Action| Stand::new([Rule::new(action)]).body(WATCH).await.0;
        assert_eq!(
            body(Action::truncate_after_events(2)).await,
            "one\ntwo\nthr"
        );
        assert_eq!(
            body(Action::malformed(1, "???")).await,
            "one\n???\nthree\nfour\nfive\n"
        );
        let expired = body(Action::expired_in_stream(1)).await;
        let (first, event) = expired.split_once('\n').unwrap();
        assert_eq!(first, "one");
        assert!(
            event.starts_with(r#"{"type":"ERROR","object":{"kind":"Status""#)
                && event.ends_with("}\n")
        );
    }

    #[tokio::test]
    async fn several_faults_of_one_body_come_in_their_order() {
        let rule = Rule::new(Action::malformed(0, "???"))
            .then(Action::malformed(2, "!!!"))
            .then(StreamFault::Cut(Action::cut_after_events(4)));
        assert_eq!(
            Stand::new([rule]).body(WATCH).await.0,
            "???\ntwo\n!!!\nfour\n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_half_open_body_is_silent_for_ever() {
        let stand = Stand::new([Rule::new(Action::half_open_after_events(1))]);
        assert!(
            timeout(Duration::from_secs(86_400), stand.body(WATCH))
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn refusals_of_the_service_are_not_spoilt() {
        let stand = Stand::new([Rule::new(Action::cut_after_events(0))]);
        let refusing = service_fn(|_: Request<Bytes>| async {
            let response = Response::builder().status(403).body(Full::from(LINES));
            Ok::<_, Infallible>(response.expect("a response"))
        });
        let request = Request::builder().uri(WATCH).body(Bytes::new()).unwrap();
        let response = stand
            .faults
            .layer()
            .layer(refusing)
            .oneshot(request)
            .await
            .unwrap();
        assert_eq!(
            response.into_body().collect().await.unwrap().to_bytes(),
            LINES
        );
    }

    #[tokio::test]
    async fn what_only_the_server_can_do_is_asked_of_it() {
        let restored = Rule::new(Action::AnswerFrom(Past::Behind(3)))
            .then(Action::Restore(Past::Revision(7)))
            .attempts(1);
        let faults = Faults::new(restored.into());
        let (asked, mut seen) = tokio::sync::mpsc::channel(2);
        let service = faults
            .layer()
            .layer(service_fn(move |request: Request<Bytes>| {
                let faults = request.extensions().get::<ServerFaults>().copied();
                asked.try_send(faults).expect("room");
                async { Ok::<_, Infallible>(Response::new(Full::from(LINES))) }
            }));
        for expected in [
            Some(ServerFaults {
                answer_from: Some(Past::Behind(3)),
                restore: Some(Past::Revision(7)),
            }),
            None,
        ] {
            let request = Request::builder().uri(WATCH).body(Bytes::new()).unwrap();
            let response = service.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(seen.recv().await, Some(expected));
        }
    }

    #[tokio::test]
    async fn the_first_rule_acts_and_every_rule_counts() {
        let stand = Stand::new([
            Rule::new(Action::status(500))
                .named("first")
                .attempts(1..=2),
            Rule::new(Action::status(429))
                .named("second")
                .attempts(2..=3),
        ]);
        let mut codes = Vec::new();
        for _ in 0..4 {
            codes.push(stand.ask("GET", WATCH).await.unwrap().status().as_u16());
        }
        assert_eq!(codes, [500, 500, 429, 200]);
        let fired: Vec<_> = stand
            .faults
            .counts()
            .iter()
            .map(|count| (count.matched, count.fired))
            .collect();
        assert_eq!(fired, [(4, 2), (4, 1)]);
        assert_eq!(stand.faults.fired_named("second"), 1);
        stand.faults.clear();
        assert_eq!(
            stand.ask("GET", WATCH).await.unwrap().status(),
            StatusCode::OK
        );
    }

    /// hyper panics, or lets two answers overlap, where these are not true.
    #[tokio::test]
    async fn the_length_of_a_made_up_answer_cannot_be_a_lie() {
        let mut lie = Action::status(500);
        for (name, value) in [("content-length", "5"), ("transfer-encoding", "chunked")] {
            let value = http::HeaderValue::from_static(value);
            lie = lie.header(http::HeaderName::from_static(name), value);
        }
        let stand = Stand::new([Rule::new(lie.retry_after(3))]);
        let answer = stand.ask("GET", WATCH).await.unwrap();
        let mut names: Vec<_> = answer
            .headers()
            .keys()
            .map(http::HeaderName::as_str)
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["content-type", "retry-after"]);
    }

    #[tokio::test]
    async fn attempts_per_object_tell_namespaces_and_names_apart() {
        let once = Rule::new(Action::status(503)).attempts(1..=1);
        let stand = Stand::new([once.per_object()]);
        let mut codes = Vec::new();
        for path in ["a/pods/x", "b/pods/x", "a/pods/y", "a/pods/x", "b/pods/x"] {
            let path = format!("/api/v1/namespaces/{path}");
            codes.push(stand.ask("GET", &path).await.unwrap().status().as_u16());
        }
        assert_eq!(codes, [503, 503, 503, 200, 200]);
    }

    #[tokio::test]
    async fn requests_are_kept_from_when_it_is_asked_for_and_whatever_becomes_of_them() {
        let stand = Stand::new([Rule::new(Action::status(503))]);
        stand.ask("GET", "/api/v1/pods").await.unwrap();
        stand.faults.keep_requests();
        assert!(stand.faults.requests().is_empty());
        let (kept, answer) = tokio::join!(
            stand.faults.until_requests(|seen| seen.len() == 1),
            stand.ask("GET", "/api/v1/nodes"),
        );
        assert_eq!(kept[0].info.resource, "nodes");
        drop(answer);
        assert!(stand.faults.requests()[0].ended.is_some());
        let open = stand.ask("GET", "/api/v1/nodes").await.unwrap();
        assert!(stand.faults.requests()[1].ended.is_none());
        drop(open);
        assert!(stand.faults.requests()[1].ended.is_some());
        stand.faults.keep_requests();
        assert_eq!(stand.faults.requests().len(), 2, "what was kept stays");
    }

    #[tokio::test]
    async fn a_matcher_looks_at_every_part_of_a_request() {
        let rule = Rule::new(Action::Reset)
            .verb(Verb::Patch)
            .group("apps")
            .resource("deployments/*")
            .namespace("shop")
            .object("web-*")
            .query("dryRun", "All")
            .without("force");
        let stand = Stand::new([rule]);
        let path = "/apis/apps/v1/namespaces/shop/deployments/web-1/scale?dryRun=All";
        stand.ask("PATCH", path).await.expect_err("a reset");
        for (method, other) in [
            ("PUT", path.to_owned()),
            ("PATCH", path.replace("apps", "apps.example.com")),
            ("PATCH", path.replace("/scale", "")),
            ("PATCH", path.replace("shop", "store")),
            ("PATCH", path.replace("web-1", "api-1")),
            ("PATCH", path.replace("?dryRun=All", "")),
            ("PATCH", format!("{path}&force=true")),
        ] {
            stand
                .ask(method, &other)
                .await
                .unwrap_or_else(|error| panic!("{method} {other}: {error}"));
        }
    }
}
