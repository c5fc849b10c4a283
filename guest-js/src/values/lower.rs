//! A JavaScript value against its WIT type.

use super::{Issues, Path, Presence, RecordNames, Refusal, Strictness, Tree, Untagged, base64, bytes, write_json};
use crate::abi::metadata::{Kind, Member, Type};
use crate::classes::Class;
use crate::engine::{binding, engine};
use crate::errors::{MISSING, nearest};
use crate::js::{MAX_SAFE_INTEGER, OwnedAtom, Value};

type Result<T> = std::result::Result<T, Refusal>;

/// Reads `value` as `ty`, refusing whatever would not arrive as it is.
pub(crate) fn lower(value: &Value, ty: Type, path: &Path<'_>) -> Result<Tree> {
    Ok(match binding().kind(ty) {
        Kind::Bool => Tree::Bool(value.as_bool().ok_or_else(|| mismatch(value, path, "a boolean"))?),
        Kind::U8 => integer(value, path, 0, u8::MAX.into())?,
        Kind::U16 => integer(value, path, 0, u16::MAX.into())?,
        Kind::U32 => integer(value, path, 0, u32::MAX.into())?,
        Kind::S8 => integer(value, path, i8::MIN.into(), i8::MAX.into())?,
        Kind::S16 => integer(value, path, i16::MIN.into(), i16::MAX.into())?,
        Kind::S32 => integer(value, path, i32::MIN.into(), i32::MAX.into())?,
        Kind::U64 => integer(value, path, 0, u64::MAX.into())?,
        Kind::S64 => integer(value, path, i64::MIN.into(), i64::MAX.into())?,
        Kind::F64 => Tree::Float(float(value, path)?),
        Kind::F32 => Tree::Float(single(value, path)?),
        Kind::Char => character(value, path)?,
        Kind::String => string(value, path)?,
        Kind::Json => Tree::Owned(write_json(value, path, Strictness::Exact, usize::MAX)?),
        Kind::Record(index) => record(value, index, path)?,
        Kind::Tuple(index) => tuple(value, index, path)?,
        Kind::List(index) => list(value, binding().list(index), path)?,
        Kind::Option(index) => option(value, binding().option(index), path)?,
        Kind::Enum(index) => enumeration(value, index, path)?,
        Kind::Flags(index) => flags(value, index, path)?,
        Kind::Variant(index) => variant(value, index, path)?,
        Kind::Result(index) => result(value, index, path)?,
        Kind::Empty | Kind::Unsupported => return Err(path.refuse("this type cannot be passed")),
    })
}

/// `expected a string, got a number`.
pub(crate) fn mismatch(value: &Value, path: &Path<'_>, expected: &str) -> Refusal {
    path.refuse(format!("expected {expected}, got {}", describe(value)))
}

/// What a value is, in a few words that run none of its code.
pub(crate) fn describe(value: &Value) -> String {
    if value.is_undefined() {
        return "undefined".into();
    }
    if value.is_nullish() {
        return "null".into();
    }
    if let Some(flag) = value.as_bool() {
        return flag.to_string();
    }
    if let Some(number) = value.as_number() {
        return format!("the number {number}");
    }
    if value.is_string() {
        return "a string".into();
    }
    if value.is_bigint() {
        return "a BigInt".into();
    }
    if value.is_symbol() {
        return "a symbol".into();
    }
    if value.is_function() {
        return "a function".into();
    }
    if value.is_array() {
        return "an array".into();
    }
    engine().intrinsics.classes.of(value).describe().into()
}

fn integer(value: &Value, path: &Path<'_>, least: i128, most: i128) -> Result<Tree> {
    let number = if value.is_bigint() {
        let text = value.text()?;
        text.as_str().and_then(|text| text.parse::<i128>().ok()).unwrap_or(i128::MAX)
    } else {
        let number = value.as_number().ok_or_else(|| mismatch(value, path, "an integer"))?;
        if number.fract() != 0.0 || !number.is_finite() {
            return Err(mismatch(value, path, "an integer"));
        }
        if number.abs() > MAX_SAFE_INTEGER as f64 {
            return Err(path.refuse(format!(
                "the number {number} is beyond what a JavaScript number holds exactly; pass a BigInt"
            )));
        }
        number as i128
    };
    if number < least || number > most {
        return Err(mismatch(value, path, &format!("an integer from {least} to {most}")));
    }
    Ok(if number < 0 { Tree::Signed(number as i64) } else { Tree::Unsigned(number as u64) })
}

fn float(value: &Value, path: &Path<'_>) -> Result<f64> {
    match value.as_number() {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(mismatch(value, path, "a finite number")),
    }
}

/// Rounds to single precision, as the type says; what would round to an infinity is refused.
fn single(value: &Value, path: &Path<'_>) -> Result<f64> {
    let number = float(value, path)?;
    if (number as f32).is_finite() { Ok(number) } else { Err(mismatch(value, path, "a number of single precision")) }
}

fn character(value: &Value, path: &Path<'_>) -> Result<Tree> {
    let expected = "a string of one character";
    if !value.is_string() {
        return Err(mismatch(value, path, expected));
    }
    let text = value.text()?;
    let mut characters = text.as_str().unwrap_or("").chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(Tree::Char(character)),
        _ => Err(mismatch(value, path, expected)),
    }
}

fn string(value: &Value, path: &Path<'_>) -> Result<Tree> {
    if !value.is_string() {
        return Err(mismatch(value, path, "a string"));
    }
    let text = value.text()?;
    if text.as_str().is_none() {
        return Err(path.refuse("the string has a lone surrogate, which is not Unicode text"));
    }
    Ok(Tree::Text(text))
}

fn record(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    let fields = binding().record(index);
    let names = engine().names.record(index);
    if may_be_left_out(value, &names, fields, path) {
        return Ok(Tree::Sequence(fields.iter().map(|_| Tree::NONE).collect()));
    }
    if !value.is_object() || value.is_array() || value.is_function() {
        return Err(mismatch(value, path, "an object"));
    }
    let keys = value.keys()?;
    check_members(value, keys.is_empty(), path)?;
    let mut issues = Issues::default();
    if !names.is_open() {
        for unknown in keys.iter().filter(|key| names.position(key.0).is_none()) {
            let name = unknown.0.name();
            issues.collect::<Tree>(Err(unknown_name(&name, names.known(), &Path::Name(path, &name))))?;
        }
    }
    let mut trees = Vec::with_capacity(fields.len());
    for (at, (field, name)) in fields.iter().zip(&names.atoms).enumerate() {
        let presence = &names.presence[at];
        if presence.is_extras() {
            trees.extend(issues.collect(extras(value, &keys, &names, path))?);
            continue;
        }
        // Own members only: `constructor` and friends are names like any other.
        let is_own = keys.iter().any(|key| key.0 == *name);
        let member = if is_own { value.get(*name)? } else { Value::UNDEFINED };
        let member = match names.is_base64[at].then(|| bytes(&member)).flatten() {
            Some(bytes) => Value::string(&base64(&bytes)),
            None => member,
        };
        let text = name.name();
        let member = member_tree(&member, *presence, field.ty, &Path::Name(path, &text));
        trees.extend(issues.collect(member)?);
    }
    issues.finish()?;
    Ok(Tree::Sequence(trees))
}

/// Refuses objects whose contents are not their members: all that is in a `Map` would be lost without a word.
fn check_members(value: &Value, is_empty: bool, path: &Path<'_>) -> Result<()> {
    let instead = match engine().intrinsics.classes.of(value) {
        // `URL` and its like: JSON has another form for them than their members.
        Class::Plain if is_empty && value.get_str("toJSON")?.is_function() => {
            return Err(
                path.refuse("expected an object, got one that is something else in JSON: pass what its toJSON() gives")
            );
        }
        Class::Plain => return Ok(()),
        Class::Map => "; use Object.fromEntries(map)",
        _ => "",
    };
    Err(path.refuse(format!("expected an object, got {}{instead}", describe(value))))
}

/// Refuses an object that has any member.
pub(crate) fn no_members(value: &Value, path: &Path<'_>) -> Result<()> {
    if value.is_undefined() {
        return Ok(());
    }
    if value.is_array() || value.is_function() {
        return Err(mismatch(value, path, "no arguments"));
    }
    let mut issues = Issues::default();
    for key in value.keys()? {
        let name = key.0.name();
        issues.collect::<Tree>(Err(unknown_name(&name, std::iter::empty(), &Path::Name(path, &name))))?;
    }
    issues.finish()
}

/// Whether no value at all stands for a record without members.
fn may_be_left_out(value: &Value, names: &RecordNames, fields: &[Member], path: &Path<'_>) -> bool {
    if names.is_marked() {
        return value.is_undefined() && names.may_be_empty() && matches!(path, Path::Root);
    }
    value.is_nullish() && fields.iter().all(|field| is_option(field.ty))
}

fn member_tree(member: &Value, presence: Presence, ty: Type, path: &Path<'_>) -> Result<Tree> {
    match (presence, binding().kind(ty)) {
        (Presence::Optional, Kind::Option(_)) if member.is_undefined() => Ok(Tree::NONE),
        (Presence::Optional, Kind::Option(option)) => Ok(Tree::some(lower(member, binding().option(option), path)?)),
        (Presence::Required, _) if member.is_undefined() => Err(path.refuse(MISSING)),
        (_, Kind::Option(_)) => lower(member, ty, path),
        _ if member.is_undefined() => Err(path.refuse(MISSING)),
        _ => lower(member, ty, path),
    }
}

/// All members without a field, as the text of one JSON object.
fn extras(value: &Value, keys: &[OwnedAtom], names: &RecordNames, path: &Path<'_>) -> Result<Tree> {
    let rest = Value::object();
    let mut is_empty = true;
    for key in keys.iter().filter(|key| names.position(key.0).is_none()) {
        let member = value.get(key.0)?;
        if !member.is_undefined() {
            rest.define(key.0, member)?;
            is_empty = false;
        }
    }
    if is_empty {
        return Ok(Tree::NONE);
    }
    Ok(Tree::some(Tree::Owned(write_json(&rest, path, Strictness::Exact, usize::MAX)?)))
}

fn is_option(ty: Type) -> bool {
    matches!(binding().kind(ty), Kind::Option(_))
}

fn unknown_name(name: &str, known: impl Iterator<Item = String>, path: &Path<'_>) -> Refusal {
    let known: Vec<String> = known.collect();
    let message = match (nearest(name, known.iter().map(String::as_str)), known.is_empty()) {
        (Some(nearest), _) => format!("unknown name `{name}`; did you mean `{nearest}`?"),
        (None, true) => format!("unknown name `{name}`; none is expected here"),
        (None, false) => format!("unknown name `{name}`; expected one of {}", list_names(&known)),
    };
    path.refuse(message)
}

/// How many names a message lists.
const MAX_LISTED_NAMES: usize = 12;

fn list_names(names: &[String]) -> String {
    let mut text = names.iter().take(MAX_LISTED_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED_NAMES {
        text.push_str(", …");
    }
    text
}

fn tuple(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    let types = binding().tuple(index);
    let expected = || format!("an array of {} items", types.len());
    if !value.is_array() {
        return Err(mismatch(value, path, &expected()));
    }
    let length = value.length()?;
    if length as usize != types.len() {
        return Err(path.refuse(format!("expected {}, got {length}", expected())));
    }
    let mut issues = Issues::default();
    let mut items = Vec::with_capacity(types.len());
    for (i, ty) in types.iter().enumerate() {
        items.extend(issues.collect(lower(&value.index(i as u32)?, *ty, &Path::Index(path, i)))?);
    }
    issues.finish()?;
    Ok(Tree::Sequence(items))
}

fn list(value: &Value, item: Type, path: &Path<'_>) -> Result<Tree> {
    if let Kind::U8 = binding().kind(item)
        && let Some(bytes) = bytes(value)
    {
        return Ok(Tree::Bytes(bytes));
    }
    if !value.is_array() {
        return Err(mismatch(value, path, "an array"));
    }
    let mut issues = Issues::default();
    let mut items = Vec::new();
    for i in 0..value.length()? {
        items.extend(issues.collect(lower(&value.index(i)?, item, &Path::Index(path, i as usize)))?);
    }
    issues.finish()?;
    Ok(Tree::Sequence(items))
}

fn option(value: &Value, inner: Type, path: &Path<'_>) -> Result<Tree> {
    match binding().kind(inner) {
        // `some(none)` and `none` must differ, so the outer one shows its tag.
        Kind::Option(_) => tagged(value, &["none", "some"], path, |case| (case == 1).then_some(inner)),
        // `null` is a JSON value; only an absent member is none.
        Kind::Json if value.is_undefined() => Ok(Tree::NONE),
        Kind::Json => Ok(Tree::some(lower(value, inner, path)?)),
        _ if value.is_nullish() => Ok(Tree::NONE),
        _ => Ok(Tree::some(lower(value, inner, path)?)),
    }
}

fn enumeration(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    if !value.is_string() {
        return Err(mismatch(value, path, "a string"));
    }
    let text = value.text()?.to_string_lossy();
    match binding().enum_names(index).position(|name| name == text) {
        Some(case) => Ok(Tree::Case(case as u32, None)),
        None => {
            let known: Vec<String> = binding().enum_names(index).map(str::to_owned).collect();
            // A script chooses how long it is.
            let short: String = text.chars().take(MAX_SHOWN_TEXT).collect();
            Err(path.refuse(format!("expected one of {}, got `{short}`", list_names(&known))))
        }
    }
}

/// How much of a text a message repeats, in characters.
const MAX_SHOWN_TEXT: usize = 80;

fn flags(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    let names = engine().names.flags(index);
    if !value.is_object() || value.is_array() {
        return Err(mismatch(value, path, "an object of booleans"));
    }
    let keys = value.keys()?;
    if let Some(unknown) = keys.iter().find(|key| !names.contains(&key.0)) {
        return Err(unknown_name(&unknown.0.name(), names.iter().map(|name| name.name()), path));
    }
    let mut bits = 0;
    for (bit, name) in names.iter().enumerate() {
        let member = value.get(*name)?;
        let text = name.name();
        let is_set = member.is_undefined().then_some(false).or(member.as_bool());
        let is_set = is_set.ok_or_else(|| mismatch(&member, &Path::Name(path, &text), "a boolean"))?;
        bits |= u64::from(is_set) << bit;
    }
    Ok(Tree::Unsigned(bits))
}

fn variant(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    let cases = binding().variant(index);
    if cases.first().is_some_and(|case| Untagged::read(case.name()).is_some()) {
        return untagged(value, cases, path);
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name()).collect();
    tagged(value, &names, path, |case| Some(cases[case].ty))
}

/// A value as the case that its own kind tells.
fn untagged(value: &Value, cases: &[Member], path: &Path<'_>) -> Result<Tree> {
    let marks: Vec<Untagged> = cases.iter().filter_map(|case| Untagged::read(case.name())).collect();
    for (index, (mark, case)) in marks.iter().zip(cases).enumerate() {
        if mark.matches(value)? {
            return Ok(Tree::Case(index as u32, Some(Box::new(lower(value, case.ty, path)?))));
        }
    }
    let expected: Vec<String> = marks.iter().map(Untagged::expectation).collect();
    Err(mismatch(value, path, &expected.join(" or ")))
}

fn result(value: &Value, index: usize, path: &Path<'_>) -> Result<Tree> {
    let (ok, err) = binding().result(index);
    tagged(value, &["ok", "err"], path, |case| Some(if case == 0 { ok } else { err }))
}

/// `{ tag, val }` as one of `names`.
fn tagged(value: &Value, names: &[&str], path: &Path<'_>, payload: impl Fn(usize) -> Option<Type>) -> Result<Tree> {
    if !value.is_object() {
        return Err(mismatch(value, path, "an object { tag, val }"));
    }
    let atoms = &engine().atoms;
    let keys = value.keys()?;
    if let Some(unknown) = keys.iter().find(|key| key.0 != atoms.tag && key.0 != atoms.val) {
        return Err(unknown_name(&unknown.0.name(), ["tag", "val"].into_iter().map(str::to_owned), path));
    }
    let tag = value.get(atoms.tag)?;
    let tag_path = Path::Name(path, "tag");
    if !tag.is_string() {
        return Err(mismatch(&tag, &tag_path, "a string"));
    }
    let text = tag.text()?.to_string_lossy();
    let Some(case) = names.iter().position(|name| *name == text) else {
        return Err(unknown_name(&text, names.iter().map(|name| (*name).to_owned()), &tag_path));
    };
    let val = value.get(atoms.val)?;
    let val_path = Path::Name(path, "val");
    let payload = match payload(case) {
        Some(ty) if !matches!(binding().kind(ty), Kind::Empty) => Some(Box::new(lower(&val, ty, &val_path)?)),
        _ if val.is_nullish() => None,
        _ => return Err(val_path.refuse(format!("the case `{text}` carries no value"))),
    };
    Ok(Tree::Case(case as u32, payload))
}
