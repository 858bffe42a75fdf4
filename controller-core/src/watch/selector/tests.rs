use proptest::prelude::*;

use super::*;

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn parse(text: &str) -> LabelSelector {
    text.parse()
        .unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn canonical(text: &str) -> String {
    parse(text).to_string()
}

fn refusal(text: &str) -> String {
    match LabelSelector::parse(text) {
        Ok(selector) => panic!("{text:?} was read as {selector}"),
        Err(error) => error.to_string(),
    }
}

/// apimachinery: TestSelectorParse.
#[test]
fn what_the_server_takes_is_taken() {
    for text in [
        "x=a,y=b,z=c",
        "",
        "x!=a,y=b",
        "x=",
        "x= ",
        "x=,z= ",
        "x= ,z= ",
        "!x",
        "x>1",
        "x>1,z<5",
    ] {
        assert_eq!(canonical(text), text.replace(' ', ""), "{text:?}");
    }
    for text in ["x=a||y=b", "x==a==b", "!x=a", "x<a"] {
        refusal(text);
    }
}

/// apimachinery: TestSetSelectorParser.
#[test]
fn sets_are_read_as_the_server_reads_them() {
    for (text, expected) in [
        ("\rx", "x"),
        (
            "this-is-a-dns.domain.com/key-with-dash",
            "this-is-a-dns.domain.com/key-with-dash",
        ),
        (
            "this-is-another-dns.domain.com/key-with-dash in (so,what)",
            "this-is-another-dns.domain.com/key-with-dash in (so,what)",
        ),
        (
            "0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)",
            "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)",
        ),
        ("foo in\t (abc)", "foo in (abc)"),
        ("x notin\n (abc)", "x notin (abc)"),
        ("x  notin\t\t(abc,def)", "x notin (abc,def)"),
        ("x in (def,abc)", "x in (abc,def)"),
        ("x in (abc,)", "x in (,abc)"),
        ("x in ()", "x in ()"),
        (
            "x notin (abc,,def),bar,z in (),w",
            "bar,w,x notin (,abc,def),z in ()",
        ),
        ("x,y in (a)", "x,y in (a)"),
        ("x==a", "x=a"),
        ("x<7", "x<7"),
        ("x=a,y!=b,z in (h,i,j)", "x=a,y!=b,z in (h,i,j)"),
        ("x notin ( )", "x notin ()"),
        ("x notin (, a)", "x notin (,a)"),
        ("a ", "a"),
        ("a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"),
        ("in in (in)", "in in (in)"),
        ("notin=in", "notin=in"),
    ] {
        assert_eq!(canonical(text), expected, "{text:?}");
    }
    for text in [
        "x=a||y=b",
        "x,,y",
        ",x,y",
        "x nott in (y)",
        "a in (xyz),",
        "a in (xyz)b notin ()",
        "a in (xyz abc)",
        "a notin(",
        "a (",
        "(",
        "a>-1",
        "a>",
        "a>9223372036854775808",
    ] {
        refusal(text);
    }
}

/// apimachinery: TestSelectorMatches, TestSetMatches.
#[test]
fn labels_match_as_on_the_server() {
    type Labels = &'static [(&'static str, &'static str)];
    let rows: &[(&str, Labels, bool)] = &[
        ("", &[("x", "y")], true),
        ("x=y", &[("x", "y")], true),
        ("x=y,z=w", &[("x", "y"), ("z", "w")], true),
        ("x!=y,z!=w", &[("x", "z"), ("z", "a")], true),
        ("notin=in", &[("notin", "in")], true),
        ("x", &[("x", "z")], true),
        ("!x", &[("y", "z")], true),
        ("x>1", &[("x", "2")], true),
        ("x<1", &[("x", "0")], true),
        ("x=z", &[], false),
        ("x=y", &[("x", "z")], false),
        ("x=y,z=w", &[("x", "w"), ("z", "w")], false),
        ("x!=y,z!=w", &[("x", "z"), ("z", "w")], false),
        ("x", &[("y", "z")], false),
        ("!x", &[("x", "z")], false),
        ("x>1", &[("x", "0")], false),
        ("x<1", &[("x", "2")], false),
        ("x>1", &[("x", "many")], false),
        ("x<1", &[], false),
        ("foo=bar,baz=blah", &[("foo", "bar"), ("baz", "blah")], true),
        (
            "foo=bar,foobar=bar",
            &[("foo", "bar"), ("baz", "blah")],
            false,
        ),
        // An absent key is neither the value nor among the values.
        ("x!=y", &[], true),
        ("x notin (y)", &[], true),
        ("x in (y)", &[], false),
        // An empty value is a value.
        ("x=", &[], false),
        ("x=", &[("x", "")], true),
        ("x in ()", &[("x", "")], true),
        ("x", &[("x", "")], true),
    ];
    for (selector, given, expected) in rows {
        assert_eq!(
            parse(selector).matches(&labels(given)),
            *expected,
            "{selector:?} {given:?}"
        );
    }
}

#[test]
fn a_refusal_names_the_place_and_what_was_expected() {
    let refusals: Vec<String> = [
        "app in (a,b",
        "app in a",
        "app=a b",
        "app in (a b)",
        "app,",
        ",app",
        "é=ü, (",
        "app >",
        "app>many",
        "app==b==c",
    ]
    .iter()
    .map(|text| format!("{text} | {}", refusal(text)))
    .collect();
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    app in (a,b | expected ')' at column 12
    app in a | expected '(' at column 8
    app=a b | expected ',' or the end at column 7
    app in (a b) | expected ',' or ')' at column 11
    app, | expected a label key after ',' at column 5
    ,app | expected a label key at column 1
    é=ü, ( | invalid label key "é": its name must be letters, digits, '-', '_' or '.', and begin and end with a letter or digit at column 1
    app > | expected an integer at column 6
    app>many | expected an integer, found "many" at column 5
    app==b==c | expected ',' or the end at column 7
    "#);
}

#[test]
fn keys_and_values_have_the_servers_limits() {
    let name = "n".repeat(63);
    let prefix = "p".repeat(253);
    parse(&format!("{prefix}/{name}={name}"));
    for (text, expected) in [
        (format!("{name}n"), "name is longer than 63"),
        (format!("{prefix}p/a"), "prefix is longer than 253"),
        (format!("a={name}n"), "longer than 63"),
        ("Prefix/a".into(), "no lower-case DNS name"),
        ("/a".into(), "no lower-case DNS name"),
        ("a/".into(), "begin and end"),
        ("a/b/c".into(), "more than one '/'"),
        ("-a".into(), "begin and end"),
        ("a=b-".into(), "begin and end"),
        ("a=b/c".into(), "must be letters"),
    ] {
        let refusal = refusal(&text);
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn two_selectors_select_what_both_do() {
    let opt_in = LabelSelector::exists("demo/min-replicas").unwrap();
    let both = opt_in.and(parse("app=web"));
    assert_eq!(both.to_string(), "app=web,demo/min-replicas");
    assert!(both.matches(&labels(&[("app", "web"), ("demo/min-replicas", "no")])));
    assert!(!both.matches(&labels(&[("app", "web")])));
    assert!(LabelSelector::exists("not a key").is_err());
    assert!(LabelSelector::default().is_everything());
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let key =
        "(([a-z0-9]{1,3}(-[a-z]{1,2})?\\.)?[a-z]{1,3}/)?[A-Za-z]([A-Za-z0-9._-]{0,4}[a-z0-9])?";
    let value = || "([A-Za-z0-9]([a-z._-]{0,3}[A-Z0-9])?)?";
    let values = || proptest::collection::btree_set(value(), 1..4);
    let condition = prop_oneof![
        Just(Condition::Exists),
        Just(Condition::DoesNotExist),
        value().prop_map(Condition::Equals),
        value().prop_map(Condition::NotEquals),
        values().prop_map(Condition::In),
        values().prop_map(Condition::NotIn),
        (0..=i64::MAX).prop_map(Condition::GreaterThan),
        (0..=i64::MAX).prop_map(Condition::LessThan),
    ];
    (key, condition).prop_map(|(key, condition)| Requirement { key, condition })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(requirements in proptest::collection::vec(requirement(), 0..5)) {
        let selector = LabelSelector::from_requirements(requirements);
        prop_assert_eq!(selector.to_string().parse::<LabelSelector>(), Ok(selector));
    }

    #[test]
    fn any_text_is_read_or_refused_within_its_bounds(text in "[a1/=!<>(),. \\tinot🦀-]{0,24}") {
        match LabelSelector::parse(&text) {
            Ok(selector) => prop_assert_eq!(selector.to_string().parse(), Ok(selector)),
            Err(error) => {
                prop_assert!(error.column >= 1);
                prop_assert!(error.column <= text.chars().count() + 1);
            }
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = LabelSelector::parse(&text);
    }
}
