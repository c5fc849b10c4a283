//! Bytes: the buffers and views that hold them, and base64.

use crate::classes::Class;
use crate::engine::engine;
use crate::js::Value;
use javy::quickjs::qjs;
use std::ffi::c_int;

/// The bytes of an `ArrayBuffer`, a `DataView` or an array of bytes; nothing for an array of larger numbers, whose bytes
/// are no data of their own.
///
/// Copied: the buffer may be detached or changed by the next line of JavaScript.
pub(crate) fn bytes(value: &Value) -> Option<Vec<u8>> {
    if !value.is_object() {
        return None;
    }
    match engine().intrinsics.classes.of(value) {
        Class::ArrayBuffer => Some(buffer(value)),
        // SAFETY: looks at the object's class only.
        Class::View => match unsafe { qjs::JS_GetTypedArrayType(value.raw()) } {
            UINT8 => Some(uint8_array(value)),
            UINT8_CLAMPED => Some(clamped_array(value)),
            NOT_AN_ARRAY => data_view(value),
            _ => None,
        },
        _ => None,
    }
}

/// What a script calls the class of something that has [`bytes`].
pub(super) fn binary_name(value: &Value) -> &'static str {
    // SAFETY: looks at the object's class only.
    match (engine().intrinsics.classes.of(value), unsafe { qjs::JS_GetTypedArrayType(value.raw()) }) {
        (Class::ArrayBuffer, _) => "ArrayBuffer",
        (_, UINT8) => "Uint8Array",
        (_, UINT8_CLAMPED) => "Uint8ClampedArray",
        _ => "DataView",
    }
}

const UINT8: c_int = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 as c_int;
const UINT8_CLAMPED: c_int = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C as c_int;
const NOT_AN_ARRAY: c_int = -1;

fn uint8_array(value: &Value) -> Vec<u8> {
    let mut length: qjs::size_t = 0;
    // SAFETY: the class was asked; the pointer is read before any JavaScript runs.
    unsafe {
        let start = qjs::JS_GetUint8Array(engine().context, &mut length, value.raw());
        copied(start, length as usize)
    }
}

fn buffer(value: &Value) -> Vec<u8> {
    let mut length: qjs::size_t = 0;
    // SAFETY: the same.
    unsafe {
        let start = qjs::JS_GetArrayBuffer(engine().context, &mut length, value.raw());
        copied(start, length as usize)
    }
}

fn clamped_array(value: &Value) -> Vec<u8> {
    let (mut offset, mut length, mut element): (qjs::size_t, qjs::size_t, qjs::size_t) = (0, 0, 0);
    // SAFETY: the class was asked; QuickJS fills all three or throws.
    let whole = Value::take(unsafe {
        qjs::JS_GetTypedArrayBuffer(engine().context, value.raw(), &mut offset, &mut length, &mut element)
    });
    whole.map(|whole| part(&buffer(&whole), offset as usize, length as usize)).unwrap_or_default()
}

/// QuickJS has no C function for these: their own members say where they lie.
fn data_view(value: &Value) -> Option<Vec<u8>> {
    let whole = value.get_str("buffer").ok()?;
    let number = |name| value.get_str(name).ok()?.as_number().map(|number| number as usize);
    let (offset, length) = (number("byteOffset")?, number("byteLength")?);
    Some(part(&buffer(&whole), offset, length))
}

fn part(whole: &[u8], offset: usize, length: usize) -> Vec<u8> {
    offset.checked_add(length).and_then(|end| whole.get(offset..end)).unwrap_or_default().to_vec()
}

/// # Safety
/// What is not null has so many bytes.
unsafe fn copied(start: *const u8, length: usize) -> Vec<u8> {
    if start.is_null() {
        // An empty array has no buffer; so has a detached one, which throws.
        drop(crate::js::exception());
        return Vec::new();
    }
    // SAFETY: the caller vouches for it.
    unsafe { std::slice::from_raw_parts(start, length).to_vec() }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding, as schemas mean it.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * digit)) as usize & 63];
            text.push(if digit <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}
