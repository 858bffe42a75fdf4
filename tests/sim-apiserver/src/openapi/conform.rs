//! Whether a tree of JSON is what its type says.

use base64::{DecodeError, Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{
    fields::join,
    type_table::{Shape, TypeName},
};
use crate::decode::found;

/// Checks the type of every value that the type knows, and writes each as a typed server would: a null in a
/// map or a list as the zero of its type, a quantity as text, a time in UTC, an empty map or list not at all.
///
/// # Errors
///
/// The sentence of Go's decoder about the first that is wrong.
pub(crate) fn conform(kind: TypeName, value: &mut Value) -> Result<(), String> {
    let at = Place {
        owner: short(kind),
        path: "",
    };
    visit(kind, &at, value)
}

/// Where a value stands, as Go's decoder names it: without the keys of maps and the places in lists.
struct Place<'a> {
    /// The innermost type with fields.
    owner: &'a str,
    path: &'a str,
}

fn visit(kind: TypeName, at: &Place<'_>, value: &mut Value) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match (kind.shape(), &mut *value) {
        (Shape::List(item), Value::Array(values)) => values
            .iter_mut()
            .try_for_each(|value| item_of(item, at, value)),
        (Shape::Map(item), Value::Object(values)) => values
            .values_mut()
            .try_for_each(|value| item_of(item, at, value)),
        (Shape::Scalar("string", "byte"), Value::String(text)) => STANDARD
            .decode(&*text)
            .map(|_| ())
            .map_err(|error| illegal_base64(&error, text)),
        (Shape::Scalar("string", _), Value::String(_))
        | (Shape::Scalar("boolean", _), Value::Bool(_)) => Ok(()),
        (Shape::Scalar("integer", format), Value::Number(number)) => {
            let fits = number
                .as_i64()
                .is_some_and(|number| format != "int32" || i32::try_from(number).is_ok());
            if fits {
                return Ok(());
            }
            Err(at.refuse(&format!("number {number}"), kind))
        }
        (Shape::Named, value) => match (kind.fields(), value) {
            (Some(_), Value::Object(fields)) => visit_fields(kind, at, fields),
            (Some(_), other) => Err(at.refuse(found(other), kind)),
            (None, other) => own_decoding(kind, other),
        },
        (_, other) => Err(at.refuse(found(other), kind)),
    }
}

/// A value in a list or a map, where a null is a value too.
fn item_of(kind: TypeName, at: &Place<'_>, value: &mut Value) -> Result<(), String> {
    if value.is_null() {
        *value = match kind.shape() {
            Shape::Scalar("string", _) => "".into(),
            Shape::Scalar("integer", _) => 0.into(),
            Shape::Scalar("boolean", _) => false.into(),
            Shape::Named if kind.fields().is_some() => Map::new().into(),
            _ => return Ok(()),
        };
    }
    visit(kind, at, value)
}

fn visit_fields(
    kind: TypeName,
    at: &Place<'_>,
    values: &mut Map<String, Value>,
) -> Result<(), String> {
    let fields = kind.fields().unwrap_or_default();
    let mut empty = Vec::new();
    for (name, value) in &mut *values {
        if let Some(field) = fields.iter().find(|field| field.name == name) {
            let place = Place {
                owner: short(kind),
                path: &join(at.path, name),
            };
            visit(field.kind, &place, value)?;
            if field.omits_empty() && is_empty(value) {
                empty.push(field.name);
            }
        }
    }
    for name in empty {
        values.remove(name);
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.is_empty(),
        Value::Object(values) => values.is_empty(),
        _ => false,
    }
}

/// The types that decode themselves; their refusals do not say where.
fn own_decoding(kind: TypeName, value: &mut Value) -> Result<(), String> {
    let mistyped = |value: &Value, wanted: &str| {
        let found = found(value);
        Err(format!(
            "json: cannot unmarshal {found} into Go value of type {wanted}"
        ))
    };
    match (kind.text(), &*value) {
        ("api.resource.Quantity", Value::Number(number)) => {
            *value = number.to_string().into();
            Ok(())
        }
        ("api.resource.Quantity", Value::String(text)) if is_quantity(text) => Ok(()),
        ("api.resource.Quantity", _) => Err(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                .to_owned(),
        ),
        ("util.intstr.IntOrString", Value::String(_)) => Ok(()),
        ("util.intstr.IntOrString", Value::Number(number)) if number.is_i64() => Ok(()),
        ("util.intstr.IntOrString", other) => mistyped(other, "int32"),
        ("meta.v1.Time" | "meta.v1.MicroTime", Value::String(text)) => {
            let micro = kind.text() == "meta.v1.MicroTime";
            let (layout, format) = match micro {
                true => (
                    "2006-01-02T15:04:05.000000Z07:00",
                    "%Y-%m-%dT%H:%M:%S.%6fZ",
                ),
                false => ("2006-01-02T15:04:05Z07:00", "%Y-%m-%dT%H:%M:%SZ"),
            };
            let refusal = |rest: &str, wanted: &str| {
                Err(format!(
                    "parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {wanted:?}"
                ))
            };
            let Ok(time) = text.parse::<Timestamp>() else {
                return refusal(text, "2006");
            };
            if micro && let Some((rest, wanted)) = not_in_micros(text) {
                return refusal(rest, wanted);
            }
            *value = time.strftime(format).to_string().into();
            Ok(())
        }
        ("meta.v1.Time" | "meta.v1.MicroTime", other) => mistyped(other, "string"),
        _ => Ok(()),
    }
}

/// What of a time does not have exactly six digits of a second, and what was wanted there.
fn not_in_micros(text: &str) -> Option<(&str, &'static str)> {
    let seconds = text.get("2006-01-02T15:04:05".len()..)?;
    let zone = match seconds.get(..".000000".len()) {
        Some(fraction)
            if fraction.starts_with('.') && fraction[1..].bytes().all(|b| b.is_ascii_digit()) =>
        {
            &seconds[fraction.len()..]
        }
        _ => return Some((seconds, ".000000")),
    };
    (!zone.starts_with(['Z', '+', '-'])).then_some((zone, "Z07:00"))
}

/// A number, and a suffix of letters or an exponent.
fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let suffix = digits.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    digits.len() < unsigned.len() && exponent.chars().all(|c| c.is_ascii_digit())
}

fn illegal_base64(error: &DecodeError, text: &str) -> String {
    let at = match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => *at,
        _ => text.len() / 4 * 4,
    };
    format!("illegal base64 data at input byte {at}")
}

/// The name without its package.
fn short(kind: TypeName) -> &'static str {
    kind.text().rsplit('.').next().unwrap_or_default()
}

/// A type as Go prints it.
fn go_type(kind: TypeName) -> String {
    match kind.shape() {
        Shape::List(item) => format!("[]{}", go_type(item)),
        Shape::Map(item) => format!("map[string]{}", go_type(item)),
        Shape::Scalar("integer", format) => format.to_owned(),
        Shape::Scalar("boolean", _) => "bool".to_owned(),
        Shape::Scalar(_, "byte") => "[]uint8".to_owned(),
        Shape::Scalar(kind, _) => kind.to_owned(),
        Shape::Named => {
            let mut parts = kind.text().rsplitn(3, '.');
            let (name, package) = (parts.next(), parts.next());
            format!(
                "{}.{}",
                package.unwrap_or_default(),
                name.unwrap_or_default()
            )
        }
    }
}

// === impl Place ===

impl Place<'_> {
    fn refuse(&self, found: &str, wanted: TypeName) -> String {
        let wanted = go_type(wanted);
        if self.path.is_empty() {
            return format!("json: cannot unmarshal {found} into Go value of type {wanted}");
        }
        let (owner, path) = (self.owner, self.path);
        format!(
            "json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {wanted}"
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::type_of, *};

    fn deployment(spec: &Value) -> Result<Value, String> {
        let mut value = json!({"spec": spec});
        let kind = type_of("apps", "v1", "Deployment").expect("a type");
        conform(kind, &mut value).map(|()| value["spec"].take())
    }

    #[test]
    fn a_value_of_another_type_is_refused_where_it_stands() {
        let refusal = |spec: Value| deployment(&spec).unwrap_err();
        insta::assert_snapshot!(refusal(json!("x")), @"json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec");
        insta::assert_snapshot!(refusal(json!({"replicas": "2"})), @"json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32");
        insta::assert_snapshot!(refusal(json!({"replicas": 1.5})), @"json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32");
        insta::assert_snapshot!(refusal(json!({"replicas": 3_000_000_000_u32})), @"json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32");
        insta::assert_snapshot!(refusal(json!({"paused": 1})), @"json: cannot unmarshal number into Go struct field DeploymentSpec.spec.paused of type bool");
        insta::assert_snapshot!(refusal(json!({"selector": {"matchLabels": {"a": 1}}})), @"json: cannot unmarshal number into Go struct field LabelSelector.spec.selector.matchLabels of type string");
        let pod = |spec: Value| refusal(json!({"template": {"spec": spec}}));
        insta::assert_snapshot!(pod(json!({"containers": {}})), @"json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container");
        insta::assert_snapshot!(pod(json!({"containers": [{"name": "c", "ports": [{"containerPort": "80"}]}]})), @"json: cannot unmarshal string into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32");
        insta::assert_snapshot!(pod(json!({"containers": [{"resources": {"limits": {"cpu": "much"}}}]})), @"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        insta::assert_snapshot!(refusal(json!({"strategy": {"rollingUpdate": {"maxSurge": true}}})), @"json: cannot unmarshal bool into Go value of type int32");
    }

    #[test]
    fn values_are_written_as_a_typed_server_writes_them() {
        let spec = deployment(
            &json!({"selector": {"matchLabels": {"a": null}}, "paused": null, "unknown": 1,
            "template": {"spec": {"containers": [{"args": [null], "resources": {"limits": {"cpu": 2}}}]}}}),
        );
        let container = json!({"args": [""], "resources": {"limits": {"cpu": "2"}}});
        assert_eq!(
            spec.unwrap(),
            json!({"selector": {"matchLabels": {"a": ""}}, "paused": null, "unknown": 1,
                "template": {"spec": {"containers": [container]}}})
        );
        let secret = type_of("", "v1", "Secret").expect("a type");
        let mut value = json!({"metadata": {"creationTimestamp": "2026-01-01T01:00:00.5+01:00"}, "data": {"a": "aGk="}});
        conform(secret, &mut value).unwrap();
        assert_eq!(
            value["metadata"]["creationTimestamp"],
            "2026-01-01T00:00:00Z"
        );
        let refusal = conform(secret, &mut json!({"data": {"a": "hi!"}})).unwrap_err();
        assert_eq!(refusal, "illegal base64 data at input byte 2");
        let refusal = conform(
            secret,
            &mut json!({"metadata": {"creationTimestamp": "now"}}),
        )
        .unwrap_err();
        assert_eq!(
            refusal,
            r#"parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006""#
        );
    }

    #[test]
    fn a_micro_time_has_six_digits_of_a_second() {
        let lease = type_of("coordination.k8s.io", "v1", "Lease").expect("a type");
        let renew = |time: &str| conform(lease, &mut json!({"spec": {"renewTime": time}}));
        assert_eq!(renew("2024-05-06T07:08:09.123456Z"), Ok(()));
        assert_eq!(renew("2024-05-06T07:08:09.123456+01:00"), Ok(()));
        for (time, rest, wanted) in [
            ("soon", "soon", "2006"),
            ("2024-05-06T07:08:09Z", "Z", ".000000"),
            ("2024-05-06T07:08:09.123Z", ".123Z", ".000000"),
            ("2024-05-06T07:08:09.123456789Z", "789Z", "Z07:00"),
        ] {
            let refusal = format!(
                "parsing time {time:?} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse {rest:?} as {wanted:?}"
            );
            assert_eq!(renew(time), Err(refusal));
        }
    }
}
