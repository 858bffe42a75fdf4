use base64::{Engine, engine::general_purpose::STANDARD};
use micropb::{PbEncoder, StdWriter, Tag};
use proptest::prelude::*;
use serde_json::json;

use super::{
    super::{Document, MediaType},
    *,
};
use crate::openapi::type_of;

/// The object in a body that a real kubectl 1.32 sent.
fn sent(group: &str, version: &str, body: &str) -> Value {
    let body = STANDARD.decode(body).unwrap();
    let document = Document::read(MediaType::Protobuf, &body).unwrap();
    let kind = type_of(group, version, &document.kind).unwrap();
    document.object(Some(kind)).unwrap()
}

/// `kubectl create deployment web --image=nginx:1 --replicas=0 --port=80`
const DEPLOYMENT: &str = "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50Er8BCiQKA3dlYhIAGgVwcm9iZSIAKgAyADgAQgBaCgoDYXBwEgN3ZWISiA\
    EIABIMCgoKA2FwcBIDd2ViGm4KHAoAEgAaACIAKgAyADgAQgBaCgoDYXBwEgN3ZWISThIwCgVuZ2lueBIHbmdpbng6MSoAMgoKABAAGFAiACoAQgBqA\
    HIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA";

#[test]
fn a_deployment_that_kubectl_sent_is_read() {
    // `replicas: 0` is there, a `minReadySeconds` of 0 is not: one is a pointer in Go, the other is not.
    let containers = json!([{"name": "nginx", "image": "nginx:1", "ports": [{"containerPort": 80}], "resources": {}}]);
    assert_eq!(
        sent("apps", "v1", DEPLOYMENT),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "probe", "labels": {"app": "web"}},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "web"}},
                "strategy": {},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
            },
            "status": {},
        })
    );
}

#[test]
fn types_with_an_encoding_of_their_own_are_read() {
    // `kubectl create pdb pdb --selector=a=b --min-available=1`
    let budget = sent(
        "policy",
        "v1",
        "azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSOgoYCgNwZGISABoFcHJvYmUiACoAMgA4\
        AEIAEhIKBggAEAEaABIICgYKAWESAWIaCggAGAAgACgAMAAaACIA",
    );
    assert_eq!(
        budget["spec"],
        json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}})
    );
    // `kubectl create secret generic s --from-literal=a=b`
    let secret = sent(
        "",
        "v1",
        "azhzAAoMCgJ2MRIGU2VjcmV0EiIKFgoBcxIAGgVwcm9iZSIAKgAyADgAQgASBgoBYRIBYhoAGgAiAA==",
    );
    assert_eq!(secret["data"], json!({"a": "Yg=="}));
    let kind = type_of("", "v1", "Namespace").unwrap();
    let time = encode(
        kind,
        &json!({"metadata": {"name": "n", "creationTimestamp": "2026-01-02T03:04:05Z"}}),
    );
    assert_eq!(
        read(kind, &time).unwrap()["metadata"]["creationTimestamp"],
        "2026-01-02T03:04:05Z"
    );
}

#[test]
fn what_the_real_decoder_refuses_is_refused_in_its_words() {
    let kind = type_of("", "v1", "ConfigMap").unwrap();
    let refusal = |bytes: &[u8]| read(kind, bytes).unwrap_err();
    insta::assert_snapshot!(refusal(&[0x08, 5]), @"proto: wrong wireType = 0 for field ObjectMeta");
    insta::assert_snapshot!(refusal(&[0x0a, 9, 1]), @"unexpected EOF");
    insta::assert_snapshot!(refusal(&[0x02, 0]), @"proto: ConfigMap: illegal tag 0 (wire type 2)");
    insta::assert_snapshot!(refusal(&[0x4c]), @"proto: ConfigMap: wiretype end group for non-group");
    insta::assert_snapshot!(refusal(&[0x4e]), @"proto: illegal wireType 6");
    insta::assert_snapshot!(refusal(&[0x20, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]), @"proto: integer overflow");
    // Unlike the real one, which reads over a group.
    insta::assert_snapshot!(refusal(&[0x4b, 0x4c]), @"proto: illegal wireType 3");
    let envelope = |bytes: &[u8]| Document::read(MediaType::Protobuf, bytes).unwrap_err();
    insta::assert_snapshot!(envelope(b""), @"empty data");
    insta::assert_snapshot!(envelope(b"k8s\0"), @"empty body");
    insta::assert_snapshot!(envelope(b"hello"), @"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    insta::assert_snapshot!(envelope(b"k8s\0\xff"), @"unexpected EOF");
}

#[test]
fn unknown_fields_are_skipped_and_parts_are_joined() {
    let kind = type_of("", "v1", "ConfigMap").unwrap();
    let mut bytes = encode(
        kind,
        &json!({"metadata": {"name": "a"}, "data": {"x": "1"}}),
    );
    bytes.extend(encode(
        kind,
        &json!({"metadata": {"namespace": "b"}, "data": {"y": "2"}}),
    ));
    // Field 99: a message, a varint and eight bytes.
    bytes.extend([0x9a, 6, 1, 0, 0x98, 6, 1, 0x99, 6, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        read(kind, &bytes).unwrap(),
        json!({"metadata": {"name": "a", "namespace": "b"}, "data": {"x": "1", "y": "2"}})
    );
}

proptest! {
    /// An object of any kind, with any of its fields, comes out as it went in.
    #[test]
    fn what_is_encoded_is_decoded(entropy in prop::collection::vec(any::<u8>(), 0..400), which in 0..KINDS.len()) {
        let (group, version, kind) = KINDS[which];
        let kind = type_of(group, version, kind).unwrap();
        let value = build(kind, &mut entropy.into_iter());
        prop_assert_eq!(read(kind, &encode(kind, &value)).unwrap(), value);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::read(MediaType::Protobuf, &[b"k8s\0".as_slice(), &bytes].concat());
        let _ = read(type_of("apps", "v1", "Deployment").unwrap(), &bytes);
    }
}

const KINDS: [(&str, &str, &str); 6] = [
    ("apps", "v1", "Deployment"),
    ("", "v1", "Pod"),
    ("", "v1", "Secret"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("batch", "v1", "CronJob"),
    ("events.k8s.io", "v1", "Event"),
];

/// Makes up a value of a type with fields: each byte decides about one thing.
fn build(kind: TypeName, entropy: &mut impl Iterator<Item = u8>) -> Value {
    let mut fields = Map::new();
    for field in kind.fields().unwrap_or_default() {
        if field.number.is_none() || entropy.next().unwrap_or(255) > 60 {
            continue;
        }
        let value = build_any(field.kind, entropy);
        let empty = match &value {
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty() && field.kind.fields().is_none(),
            other => scalar::is_zero(other) && !field.keeps_zero,
        };
        if !empty {
            fields.insert(field.name.to_owned(), value);
        }
    }
    fields.into()
}

fn build_any(kind: TypeName, entropy: &mut impl Iterator<Item = u8>) -> Value {
    let byte = entropy.next().unwrap_or(0);
    match kind.shape() {
        Shape::List(item) => (0..byte % 3)
            .map(|_| build_any(item, entropy))
            .collect::<Vec<_>>()
            .into(),
        Shape::Map(item) => {
            let entries = (0..byte % 3).map(|at| (format!("key-{at}"), build_any(item, entropy)));
            entries.collect::<Map<_, _>>().into()
        }
        Shape::Scalar("integer", "int32") => {
            [0, 1, -1, i32::MAX, i32::MIN][usize::from(byte % 5)].into()
        }
        Shape::Scalar("integer", _) => [0, 1, -1, i64::MAX, i64::MIN][usize::from(byte % 5)].into(),
        Shape::Scalar("boolean", _) => (byte % 2 == 1).into(),
        Shape::Scalar(_, "byte") => STANDARD.encode([byte; 5]).into(),
        Shape::Scalar(..) => ["", "a", "ü"][usize::from(byte % 3)].into(),
        Shape::Named if kind.fields().is_some() => build(kind, entropy),
        Shape::Named => match kind.text() {
            "meta.v1.Time" => "1969-12-31T23:59:59Z".into(),
            "meta.v1.MicroTime" => "2026-01-02T03:04:05.678901Z".into(),
            "util.intstr.IntOrString" if byte < 128 => byte.into(),
            "util.intstr.IntOrString" => "25%".into(),
            "meta.v1.FieldsV1" => json!({"f:spec": {}}),
            _ => "100m".into(),
        },
    }
}

type Encoder = PbEncoder<StdWriter<Vec<u8>>>;

fn encode(kind: TypeName, value: &Value) -> Vec<u8> {
    let mut own = Encoder::new(StdWriter(Vec::new()));
    let mut inlined: Vec<(u32, Encoder)> = Vec::new();
    for field in kind.fields().unwrap_or_default() {
        let (Some(value), Some(number)) = (value.get(field.name), field.number) else {
            continue;
        };
        let into = match number.within {
            None => &mut own,
            Some(within) => {
                let at = inlined.iter().position(|(number, _)| *number == within);
                let at = at.unwrap_or_else(|| {
                    inlined.push((within, Encoder::new(StdWriter(Vec::new()))));
                    inlined.len() - 1
                });
                &mut inlined[at].1
            }
        };
        encode_field(into, number.number, field.kind, value);
    }
    for (number, message) in inlined {
        put_bytes(&mut own, number, &message.into_writer().0);
    }
    own.into_writer().0
}

fn encode_field(into: &mut Encoder, number: u32, kind: TypeName, value: &Value) {
    match (kind.shape(), value) {
        (Shape::List(item), Value::Array(list)) => {
            list.iter()
                .for_each(|value| encode_field(into, number, item, value));
        }
        (Shape::Map(item), Value::Object(map)) => {
            for (key, value) in map {
                let mut entry = Encoder::new(StdWriter(Vec::new()));
                put_bytes(&mut entry, 1, key.as_bytes());
                encode_field(&mut entry, 2, item, value);
                put_bytes(into, number, &entry.into_writer().0);
            }
        }
        (Shape::Scalar(_, "byte"), Value::String(text)) => {
            put_bytes(into, number, &STANDARD.decode(text).unwrap());
        }
        (Shape::Scalar(..), Value::String(text)) => put_bytes(into, number, text.as_bytes()),
        (Shape::Scalar(..), Value::Bool(value)) => put_integer(into, number, i64::from(*value)),
        (Shape::Scalar(..), value) => put_integer(into, number, value.as_i64().unwrap()),
        (_, value) if kind.fields().is_some() => put_bytes(into, number, &encode(kind, value)),
        (_, value) => put_bytes(into, number, &encode_own(kind, value)),
    }
}

fn encode_own(kind: TypeName, value: &Value) -> Vec<u8> {
    let mut message = Encoder::new(StdWriter(Vec::new()));
    match (kind.text(), value) {
        ("meta.v1.Time" | "meta.v1.MicroTime", Value::String(text)) => {
            let time: jiff::Timestamp = text.parse().unwrap();
            put_integer(&mut message, 1, time.as_second());
            put_integer(&mut message, 2, time.subsec_nanosecond().into());
        }
        ("util.intstr.IntOrString", Value::String(text)) => {
            put_integer(&mut message, 1, 1);
            put_bytes(&mut message, 3, text.as_bytes());
        }
        ("util.intstr.IntOrString", value) => {
            put_integer(&mut message, 1, 0);
            put_integer(&mut message, 2, value.as_i64().unwrap());
        }
        ("meta.v1.FieldsV1", value) => put_bytes(&mut message, 1, value.to_string().as_bytes()),
        (_, value) => put_bytes(&mut message, 1, value.as_str().unwrap().as_bytes()),
    }
    message.into_writer().0
}

fn put_bytes(into: &mut Encoder, number: u32, bytes: &[u8]) {
    into.encode_tag(Tag::from_parts(number, micropb::WIRE_TYPE_LEN))
        .unwrap();
    into.encode_bytes(bytes).unwrap();
}

fn put_integer(into: &mut Encoder, number: u32, value: i64) {
    into.encode_tag(Tag::from_parts(number, micropb::WIRE_TYPE_VARINT))
        .unwrap();
    into.encode_int64(value).unwrap();
}

/// Go's encoder packs no list, others may.
#[test]
fn a_packed_list_is_a_list() {
    let requirement = type_of("batch", "v1", "PodFailurePolicyOnExitCodesRequirement").unwrap();
    // Field 3, `values`, as bytes: 1 and 300.
    let packed = read(requirement, &[0x1a, 0x03, 0x01, 0xac, 0x02]).unwrap();
    assert_eq!(packed, json!({"values": [1, 300]}));
    let one_by_one = read(requirement, &[0x18, 0x01, 0x18, 0xac, 0x02]).unwrap();
    assert_eq!(one_by_one, packed);
}

#[test]
fn a_short_integer_takes_the_lower_half_as_in_go() {
    let spec = type_of("apps", "v1", "DeploymentSpec").unwrap();
    // Field 1, `replicas`: 2^32 + 5.
    let replicas = read(spec, &[0x08, 0x85, 0x80, 0x80, 0x80, 0x10]).unwrap();
    assert_eq!(replicas, json!({"replicas": 5}));
}
