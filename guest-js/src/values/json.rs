//! JSON in both directions, losing nothing in silence.

use super::binary::binary_name;
use super::lower::describe;
use super::{Path, Refusal, base64, bytes};
use crate::classes::Class;
use crate::engine::engine;
use crate::js::{self, Value};
use javy::quickjs::qjs;
use std::borrow::Cow;
use std::fmt::Write;

/// Values nested deeper are refused, so that no reader on the way has to recurse further.
const MAX_DEPTH: usize = 100;

/// What happens to values that JSON has no form for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Arguments of a call: whatever would arrive changed is refused.
    Exact,
    /// A script's value: as `JSON.stringify`, but what it would drop or empty is refused.
    Familiar,
    /// Arguments of a call that is refused: what JSON has no form for is null.
    Shown,
}

/// The JSON text of `value`, of at most `limit` bytes.
pub(crate) fn write_json(
    value: &Value,
    path: &Path<'_>,
    strictness: Strictness,
    limit: usize,
) -> Result<String, Refusal> {
    let mut writer = Writer::new(strictness, limit);
    writer.value(value, "", path)?;
    writer.check_length()?;
    Ok(writer.out)
}

/// The value of a JSON text that the host vouches for.
pub(crate) fn parse_json(text: &Value) -> Value {
    let Ok(text) = text.text() else { return Value::UNDEFINED };
    parse(text.as_bytes()).unwrap_or(Value::UNDEFINED)
}

fn parse(text: &[u8]) -> js::Result<Value> {
    let mut buffer = Vec::with_capacity(text.len() + 1);
    buffer.extend_from_slice(text);
    buffer.push(0);
    // SAFETY: QuickJS wants a NUL after the text.
    Value::take(unsafe {
        qjs::JS_ParseJSON(engine().context, buffer.as_ptr().cast(), text.len() as _, c"json".as_ptr())
    })
}

pub(super) struct Writer {
    pub(super) out: String,
    ancestors: Vec<Value>,
    strictness: Strictness,
    limit: usize,
}

impl Writer {
    pub(super) fn new(strictness: Strictness, limit: usize) -> Writer {
        Writer { out: String::new(), ancestors: Vec::new(), strictness, limit }
    }

    pub(super) fn value(&mut self, value: &Value, key: &str, path: &Path<'_>) -> Result<(), Refusal> {
        if value.is_nullish() {
            self.out.push_str("null");
        } else if let Some(flag) = value.as_bool() {
            self.out.push_str(if flag { "true" } else { "false" });
        } else if let Some(number) = value.as_number() {
            return self.number(value, number, path);
        } else if value.is_string() {
            return self.string(value, path);
        } else if value.is_bigint() && self.strictness == Strictness::Shown {
            self.out.push_str(&value.text()?.to_string_lossy());
        } else if !value.is_object() || value.is_function() {
            return self.refuse(|| cannot_carry(value, path));
        } else {
            return self.object(value, key, path);
        }
        Ok(())
    }

    /// Refuses a value, before anything of it is written; what is only shown is null instead.
    fn refuse(&mut self, refusal: impl FnOnce() -> Refusal) -> Result<(), Refusal> {
        if self.strictness != Strictness::Shown {
            return Err(refusal());
        }
        self.out.push_str("null");
        Ok(())
    }

    fn number(&mut self, value: &Value, number: f64, path: &Path<'_>) -> Result<(), Refusal> {
        if !number.is_finite() {
            if self.strictness == Strictness::Exact {
                return Err(cannot_carry(value, path));
            }
            self.out.push_str("null");
        } else if number == 0.0 && number.is_sign_negative() && self.strictness == Strictness::Exact {
            self.out.push_str("-0.0");
        } else if number.fract() == 0.0 && number.abs() < 1e15 {
            let _ = write!(self.out, "{}", number as i64);
        } else {
            // JavaScript's own form is the shortest that reads back as the same number.
            let text = value.text()?.to_string_lossy();
            self.out.push_str(&text);
            // Digits alone would be read as an integer, which a large number's shortest form is not.
            if self.strictness == Strictness::Exact && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                self.out.push_str(".0");
            }
        }
        Ok(())
    }

    fn string(&mut self, value: &Value, path: &Path<'_>) -> Result<(), Refusal> {
        let text = value.text()?;
        match text.as_str() {
            Some(text) => {
                quote(text, &mut self.out);
                Ok(())
            }
            None if self.strictness == Strictness::Shown => {
                quote(&text.to_string_lossy(), &mut self.out);
                Ok(())
            }
            None => Err(path.refuse("the string has a lone surrogate, which is not Unicode text")),
        }
    }

    fn object(&mut self, value: &Value, key: &str, path: &Path<'_>) -> Result<(), Refusal> {
        let to_json = value.get(engine().atoms.to_json)?;
        if to_json.is_function() {
            let plain = to_json.call(value, &[Value::string(key)])?;
            // Once: a toJSON that answers with an object that has another is not asked again.
            return if plain.is_object() && !plain.is_function() {
                self.members(&plain, path)
            } else {
                self.value(&plain, key, path)
            };
        }
        self.members(value, path)
    }

    fn members(&mut self, value: &Value, path: &Path<'_>) -> Result<(), Refusal> {
        if self.ancestors.iter().any(|ancestor| ancestor.is_same(value)) {
            return self.refuse(|| path.refuse("the value contains itself, which JSON cannot carry"));
        }
        if self.ancestors.len() >= MAX_DEPTH {
            return self.refuse(|| path.refuse(format!("the value is nested more than {MAX_DEPTH} levels deep")));
        }
        self.ancestors.push(value.clone());
        let written = if value.is_array() { self.array(value, path) } else { self.plain_object(value, path) };
        self.ancestors.pop();
        written
    }

    pub(super) fn check_length(&self) -> Result<(), Refusal> {
        if self.out.len() > self.limit { Err(Refusal::TooLong) } else { Ok(()) }
    }

    fn array(&mut self, value: &Value, path: &Path<'_>) -> Result<(), Refusal> {
        self.out.push('[');
        for index in 0..value.length()? {
            if index > 0 {
                self.out.push(',');
            }
            let item = value.index(index)?;
            let path = Path::Index(path, index as usize);
            if item.is_undefined() && self.strictness == Strictness::Exact {
                return Err(cannot_carry(&item, &path));
            }
            self.value(&item, "", &path)?;
            self.check_length()?;
        }
        self.out.push(']');
        Ok(())
    }

    fn plain_object(&mut self, value: &Value, path: &Path<'_>) -> Result<(), Refusal> {
        // Boxed primitives are what they box; other exotic objects would come out empty.
        match engine().intrinsics.classes.of(value) {
            Class::Map => {
                return self.refuse(|| path.refuse("JSON cannot carry a Map; use Object.fromEntries(map)"));
            }
            Class::Set => return self.refuse(|| path.refuse("JSON cannot carry a Set; use [...set]")),
            Class::Promise | Class::Weak | Class::RegExp => return self.refuse(|| cannot_carry(value, path)),
            Class::Boxed => {
                let primitive = value.get_str("valueOf")?.call(value, &[])?;
                return self.value(&primitive, "", path);
            }
            Class::View | Class::ArrayBuffer if self.strictness != Strictness::Exact => {
                return self.binary(value, path);
            }
            Class::Error | Class::DomException if self.strictness != Strictness::Exact => return self.error(value),
            Class::Error | Class::DomException | Class::View | Class::ArrayBuffer | Class::Generator
                if self.strictness == Strictness::Exact =>
            {
                return Err(cannot_carry(value, path));
            }
            _ => {}
        }
        self.out.push('{');
        let mut is_first = true;
        for key in value.keys()? {
            let member = value.get(key.0)?;
            if member.is_undefined() {
                continue;
            }
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            let text = key.0.text()?;
            let name = match text.as_str() {
                Some(name) => Cow::Borrowed(name),
                None if self.strictness == Strictness::Shown => Cow::Owned(text.to_string_lossy()),
                None => return Err(path.refuse("a member's name has a lone surrogate, which is not Unicode text")),
            };
            quote(&name, &mut self.out);
            self.out.push(':');
            self.value(&member, &name, &Path::Key(path, &key))?;
            self.check_length()?;
        }
        self.out.push('}');
        Ok(())
    }

    /// Bytes as base64 under the name of their class; other typed arrays are arrays of numbers.
    fn binary(&mut self, value: &Value, path: &Path<'_>) -> Result<(), Refusal> {
        let Some(bytes) = bytes(value) else { return self.array(value, path) };
        self.out.push_str("{\"type\":\"");
        self.out.push_str(binary_name(value));
        self.out.push_str("\",\"base64\":\"");
        self.out.push_str(&base64(&bytes));
        self.out.push_str("\"}");
        self.check_length()
    }

    /// An error that a script returns rather than throws, such as one of `Promise.allSettled`.
    fn error(&mut self, value: &Value) -> Result<(), Refusal> {
        self.out.push('{');
        for (i, member) in ["name", "message"].into_iter().enumerate() {
            let text = value.get_str(member)?.text()?.to_string_lossy();
            self.out.push_str(if i == 0 { "\"name\":" } else { ",\"message\":" });
            quote(&text, &mut self.out);
        }
        self.out.push('}');
        Ok(())
    }
}

fn cannot_carry(value: &Value, path: &Path<'_>) -> Refusal {
    path.refuse(format!("JSON cannot carry {}", describe(value)))
}

pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[plain_from..i]);
        plain_from = i + 1;
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}
