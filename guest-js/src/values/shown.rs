//! The arguments of a call that is refused for their types, as the host's checks would read them if it were not.

use super::json::{Writer, quote};
use super::{Path, Refusal, Strictness, Untagged, base64, bytes};
use crate::abi::metadata::{Kind, Type};
use crate::engine::{binding, engine};
use crate::js::Value;

/// Longer arguments are not shown: the call is refused all the same.
const MAX_BYTES: usize = 1 << 20;

type Result<T> = std::result::Result<T, Refusal>;

/// The JSON array of arguments. What fits its type is as it would arrive, what JSON cannot carry is null. Nothing where
/// they are too long or their getters throw.
pub(crate) fn shown(arguments: &[Value], types: &[Type]) -> Option<String> {
    let mut writer = Writer::new(Strictness::Shown, MAX_BYTES);
    let mut types = types.iter();
    let written =
        list(&mut writer, arguments.iter().map(|value| Ok(value.clone())), |writer, value| match types.next() {
            Some(ty) => typed(writer, value, *ty),
            None => writer.value(value, "", &Path::Root),
        });
    written.ok().map(|()| writer.out)
}

fn typed(writer: &mut Writer, value: &Value, ty: Type) -> Result<()> {
    match binding().kind(ty) {
        Kind::Record(index) if value.is_object() && !value.is_array() && !value.is_function() => {
            record(writer, value, index)
        }
        Kind::List(index) => {
            let item = binding().list(index);
            if let (Kind::U8, Some(bytes)) = (binding().kind(item), bytes(value)) {
                quote(&base64(&bytes), &mut writer.out);
                return writer.check_length();
            }
            if !value.is_array() {
                return writer.value(value, "", &Path::Root);
            }
            let items = (0..value.length()?).map(|index| value.index(index));
            list(writer, items, |writer, value| typed(writer, value, item))
        }
        Kind::Option(index) if !matches!(binding().kind(binding().option(index)), Kind::Option(_)) => {
            typed(writer, value, binding().option(index))
        }
        Kind::Variant(index) => {
            for case in binding().variant(index) {
                if let Some(mark) = Untagged::read(case.name())
                    && mark.matches(value)?
                {
                    return typed(writer, value, case.ty);
                }
            }
            writer.value(value, "", &Path::Root)
        }
        _ => writer.value(value, "", &Path::Root),
    }
}

fn list(
    writer: &mut Writer,
    items: impl Iterator<Item = crate::js::Result<Value>>,
    mut write: impl FnMut(&mut Writer, &Value) -> Result<()>,
) -> Result<()> {
    writer.out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            writer.out.push(',');
        }
        write(writer, &item?)?;
        writer.check_length()?;
    }
    writer.out.push(']');
    Ok(())
}

fn record(writer: &mut Writer, value: &Value, index: usize) -> Result<()> {
    let fields = binding().record(index);
    let names = engine().names.record(index);
    writer.out.push('{');
    let mut is_first = true;
    for key in value.keys()? {
        let member = value.get(key.0)?;
        if member.is_undefined() {
            continue;
        }
        if !is_first {
            writer.out.push(',');
        }
        is_first = false;
        let name = key.0.name();
        quote(&name, &mut writer.out);
        writer.out.push(':');
        match names.position(key.0) {
            Some(at) => match names.is_base64[at].then(|| bytes(&member)).flatten() {
                Some(bytes) => quote(&base64(&bytes), &mut writer.out),
                None => typed(writer, &member, fields[at].ty)?,
            },
            None => writer.value(&member, &name, &Path::Root)?,
        }
        writer.check_length()?;
    }
    writer.out.push('}');
    Ok(())
}
