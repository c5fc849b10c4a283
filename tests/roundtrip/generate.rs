//! Random values of the interface, as canonical JSON of the mapping.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Text with what text can hold: NUL, quotes, astral characters, names that objects inherit.
pub(crate) fn text() -> BoxedStrategy<String> {
    let special = [
        "",
        "\u{0}",
        "__proto__",
        "constructor",
        "toJSON",
        "then",
        "tag",
        "🚂",
        "\u{10ffff}",
        "\u{2028}\"\\\n",
        "\u{feff}",
        "e\u{301}",
    ];
    prop_oneof![
        proptest::sample::select(special.to_vec()).prop_map(str::to_owned),
        "[ -~]{0,12}",
        vec(any::<char>(), 0..6).prop_map(|characters| characters.into_iter().collect()),
    ]
    .boxed()
}

/// Any double that is a number.
pub(crate) fn finite() -> BoxedStrategy<f64> {
    let extremes =
        [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e21, 1e-7, 0.1, 9007199254740993.0, 1e15];
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |double| double.is_finite()),
        -1e6..1e6f64,
        proptest::sample::select(extremes.to_vec()),
    ]
    .boxed()
}

/// An integer that a double holds exactly.
pub(crate) fn whole() -> BoxedStrategy<Value> {
    const MOST: i64 = (1 << 53) - 1;
    prop_oneof![-MOST..=MOST, proptest::sample::select(vec![-MOST, MOST, 0, 1 << 32, -(1 << 31)])]
        .prop_map(Value::from)
        .boxed()
}

/// Anything that JSON can say. Numbers are integers and short fractions: doubles have a test of their own.
pub(crate) fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        whole(),
        (-1_000_000..1_000_000i32).prop_map(|n| json!(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((text(), inner), 0..5).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

/// An object whose absent members are left out.
fn object(members: Vec<(&'static str, Option<Value>)>) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

fn tagged(tag: &str, payload: Option<Value>) -> Value {
    match payload {
        Some(payload) => json!({"tag": tag, "val": payload}),
        None => json!({ "tag": tag }),
    }
}

fn array(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    vec(item, 0..4).prop_map(Value::from).boxed()
}

fn or_null(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    option::of(inner).prop_map(|value| value.unwrap_or(Value::Null)).boxed()
}

fn color() -> BoxedStrategy<Value> {
    proptest::sample::select(vec!["red", "green", "deep-blue"]).prop_map(Value::from).boxed()
}

fn rights() -> BoxedStrategy<Value> {
    any::<(bool, bool, bool)>()
        .prop_map(|(read, write, run)| json!({"canRead": read, "canWrite": write, "run": run}))
        .boxed()
}

fn point() -> BoxedStrategy<Value> {
    (any::<i32>(), option::of(any::<i32>()), text())
        .prop_map(|(x, y, label)| {
            object(vec![("x", Some(x.into())), ("yAxis", y.map(Value::from)), ("label", Some(label.into()))])
        })
        .boxed()
}

fn figure() -> BoxedStrategy<Value> {
    let pair = (color(), rights()).prop_map(|(color, rights)| json!([color, rights])).boxed();
    prop_oneof![
        Just(tagged("empty", None)),
        point().prop_map(|point| tagged("dot", Some(point))),
        array(point()).prop_map(|points| tagged("many", Some(points))),
        or_null(array(point())).prop_map(|points| tagged("maybe", Some(points))),
        any_json().prop_map(|raw| tagged("raw", Some(raw))),
        array(or_null(pair)).prop_map(|pairs| tagged("nested", Some(pairs))),
    ]
    .boxed()
}

fn bytes() -> BoxedStrategy<Value> {
    vec(any::<u8>(), 0..20).prop_map(|bytes| base64(&bytes).into()).boxed()
}

/// An independent encoder: the host's own is what is tested.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let is_padding = index > chunk.len();
            text.push(if is_padding { '=' } else { ALPHABET[(word >> (18 - 6 * index) & 63) as usize] as char });
        }
    }
    text
}

fn scalars() -> BoxedStrategy<Value> {
    let integers = (any::<(u8, u16, u32, i8, i16, i32)>(), extreme_u64(), extreme_s64());
    let floats = (any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |float| float.is_finite()), finite());
    (any::<bool>(), integers, floats, any::<char>(), text(), bytes())
        .prop_map(|(flag, ((u8, u16, u32, s8, s16, s32), u64, s64), (f32, f64), character, text, bytes)| {
            json!({"flag": flag, "aU8": u8, "aU16": u16, "aU32": u32, "aU64": u64, "aS8": s8, "aS16": s16, "aS32": s32,
                "aS64": s64, "aF32": f64::from(f32), "aF64": f64, "aChar": character.to_string(), "text": text, "bytes": bytes})
        })
        .boxed()
}

fn extreme_u64() -> BoxedStrategy<u64> {
    prop_oneof![
        any::<u64>(),
        proptest::sample::select(vec![0, u64::MAX, 1 << 53, (1 << 53) - 1, (1 << 53) + 1, 1 << 63, 1 << 31, 1 << 32])
    ]
    .boxed()
}

fn extreme_s64() -> BoxedStrategy<i64> {
    prop_oneof![
        any::<i64>(),
        proptest::sample::select(vec![
            0,
            -1,
            i64::MAX,
            i64::MIN,
            1 << 53,
            -(1 << 53),
            -(1 << 53) - 1,
            i64::from(i32::MIN)
        ])
    ]
    .boxed()
}

/// `some` and `none` of an option directly inside another.
fn shown_option(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    option::of(inner).prop_map(|value| value.map_or(tagged("none", None), |value| tagged("some", Some(value)))).boxed()
}

fn outcome(ok: BoxedStrategy<Option<Value>>, err: BoxedStrategy<Option<Value>>) -> BoxedStrategy<Value> {
    prop_oneof![ok.prop_map(|ok| tagged("ok", ok)), err.prop_map(|err| tagged("err", err))].boxed()
}

/// The whole record.
pub(crate) fn everything() -> BoxedStrategy<Value> {
    let number = || finite().prop_map(Value::from).boxed();
    let none = || Just(None).boxed();
    let first = (
        scalars(),
        array(point()),
        option::of(text().prop_map(Value::from)),
        shown_option(or_null(any::<u32>().prop_map(Value::from).boxed())),
        shown_option(shown_option(or_null(any::<bool>().prop_map(Value::from).boxed()))),
        color(),
        rights(),
        figure(),
        option::of(array(figure())),
        (any::<u8>(), text(), or_null(number())).prop_map(|(number, text, maybe)| json!([number, text, maybe])),
    );
    let second = (
        outcome(any::<u32>().prop_map(|ok| Some(ok.into())).boxed(), text().prop_map(|err| Some(err.into())).boxed()),
        array(outcome(none(), color().prop_map(Some).boxed())),
        outcome(none(), none()),
        any_json(),
        option::of(any_json()),
        array(array(number())),
        array(or_null(any::<u16>().prop_map(Value::from).boxed())),
        array(bytes()),
        array((text(), any_json()).prop_map(|(key, value)| json!([key, value])).boxed()),
    );
    (first, second)
        .prop_map(|(first, second)| {
            let (scalars, points, maybe, twice, thrice, color, rights, figure, figures, pair) = first;
            let (outcome, outcomes, done, anything, perhaps, matrix, maybes, blobs, entries) = second;
            object(vec![
                ("scalars", Some(scalars)),
                ("points", Some(points)),
                ("maybe", maybe),
                ("twice", Some(twice)),
                ("thrice", Some(thrice)),
                ("color", Some(color)),
                ("rights", Some(rights)),
                ("figure", Some(figure)),
                ("figures", figures),
                ("pair", Some(pair)),
                ("outcome", Some(outcome)),
                ("outcomes", Some(outcomes)),
                ("done", Some(done)),
                ("anything", Some(anything)),
                ("perhaps", perhaps),
                ("matrix", Some(matrix)),
                ("maybes", Some(maybes)),
                ("blobs", Some(blobs)),
                ("entries", Some(entries)),
            ])
        })
        .boxed()
}
