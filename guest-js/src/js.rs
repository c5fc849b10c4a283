//! An owned JavaScript value over the engine's one context.
//!
//! The only place that counts references and takes exceptions out of the context. Everything else
//! handles [`Value`]s, whose `Drop` does the counting.

use crate::engine::engine;
use javy::quickjs::qjs;
use std::ffi::{c_char, c_int};
use std::mem::ManuallyDrop;
use std::ptr;

/// A JavaScript value that this handle owns.
pub(crate) struct Value(qjs::JSValue);

/// What was thrown stands in the error.
pub(crate) type Result<T> = std::result::Result<T, Value>;

/// An interned property name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atom(pub(crate) qjs::JSAtom);

/// Text of a JavaScript string as UTF-8, kept alive by this handle.
///
/// A lone surrogate shows as its three-byte WTF-8 form, so the bytes need not be UTF-8.
pub(crate) struct Text {
    start: *const c_char,
    length: usize,
}

impl Value {
    pub(crate) const UNDEFINED: Value = Value(qjs::JS_UNDEFINED);
    pub(crate) const NULL: Value = Value(qjs::JS_NULL);

    /// Takes over a reference that the caller owns; `Err` with what was thrown for an exception.
    pub(crate) fn take(raw: qjs::JSValue) -> Result<Value> {
        // SAFETY: the context lives as long as the instance; an exception value means one is pending.
        unsafe {
            if qjs::JS_IsException(raw) {
                return Err(Value(qjs::JS_GetException(engine().context)));
            }
        }
        Ok(Value(raw))
    }

    /// A second handle on a value that somebody else owns.
    pub(crate) fn borrowed(raw: qjs::JSValue) -> Value {
        // SAFETY: the caller's value is alive for the length of this call.
        Value(unsafe { qjs::JS_DupValue(engine().context, raw) })
    }

    pub(crate) fn raw(&self) -> qjs::JSValue {
        self.0
    }

    /// Gives the reference away, to QuickJS as a rule.
    pub(crate) fn into_raw(self) -> qjs::JSValue {
        ManuallyDrop::new(self).0
    }

    pub(crate) fn bool(value: bool) -> Value {
        Value(if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }

    pub(crate) fn number(value: f64) -> Value {
        Value(qjs::JS_NewFloat64(value))
    }

    pub(crate) fn int(value: i32) -> Value {
        Value(qjs::JS_MKVAL(qjs::JS_TAG_INT, value))
    }

    pub(crate) fn signed(value: i64) -> Value {
        if let Ok(small) = i32::try_from(value) {
            return Value::int(small);
        }
        if value.unsigned_abs() <= MAX_SAFE_INTEGER {
            return Value::number(value as f64);
        }
        // SAFETY: allocates a BigInt in the live context.
        Value(unsafe { qjs::JS_NewBigInt64(engine().context, value) })
    }

    pub(crate) fn unsigned(value: u64) -> Value {
        if value <= MAX_SAFE_INTEGER {
            return Value::signed(value as i64);
        }
        // SAFETY: allocates a BigInt in the live context.
        Value(unsafe { qjs::JS_NewBigUint64(engine().context, value) })
    }

    pub(crate) fn string(text: &str) -> Value {
        // SAFETY: pointer and length are those of `text`.
        Value(unsafe { qjs::JS_NewStringLen(engine().context, text.as_ptr().cast(), text.len() as _) })
    }

    pub(crate) fn object() -> Value {
        // SAFETY: allocates in the live context.
        Value(unsafe { qjs::JS_NewObject(engine().context) })
    }

    pub(crate) fn bytes(bytes: &[u8]) -> Result<Value> {
        // SAFETY: pointer and length are those of `bytes`, which QuickJS copies.
        Value::take(unsafe { qjs::JS_NewUint8ArrayCopy(engine().context, bytes.as_ptr(), bytes.len() as _) })
    }

    /// An array of these values.
    pub(crate) fn array(mut values: Vec<Value>) -> Result<Value> {
        // SAFETY: `Value` is a JSValue in memory, as is checked below. JS_NewArrayFrom takes over the
        // references, so that the vector gives up its items and frees only itself.
        let array = unsafe {
            let array = qjs::JS_NewArrayFrom(engine().context, values.len() as c_int, values.as_ptr().cast());
            values.set_len(0);
            array
        };
        Value::take(array)
    }

    /// An object with these properties, in this order.
    ///
    /// Not `JS_NewObjectFrom`: it gives every object a shape of its own, all of them in one hash chain,
    /// so that freeing a list of records takes time in the square of its length.
    pub(crate) fn object_from(names: &[Atom], values: impl IntoIterator<Item = Value>) -> Result<Value> {
        let object = Value::object();
        for (name, value) in names.iter().zip(values) {
            object.define(*name, value)?;
        }
        Ok(object)
    }

    pub(crate) fn is_undefined(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsUndefined(self.0) }
    }

    pub(crate) fn is_nullish(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsUndefined(self.0) || qjs::JS_IsNull(self.0) }
    }

    pub(crate) fn is_object(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsObject(self.0) }
    }

    pub(crate) fn is_string(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsString(self.0) }
    }

    pub(crate) fn is_function(&self) -> bool {
        // SAFETY: looks at the object's class.
        unsafe { qjs::JS_IsFunction(engine().context, self.0) }
    }

    /// Whether this is an array, or a proxy of one.
    pub(crate) fn is_array(&self) -> bool {
        // SAFETY: looks at the class of live objects; a revoked proxy throws, which is taken.
        unsafe {
            if !qjs::JS_IsProxy(self.0) {
                return qjs::JS_IsArray(self.0);
            }
            Value::take(qjs::JS_GetProxyTarget(engine().context, self.0)).is_ok_and(|target| target.is_array())
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        // SAFETY: looks at the object's class.
        unsafe { qjs::JS_IsError(self.0) }
    }

    pub(crate) fn is_promise(&self) -> bool {
        // SAFETY: looks at the object's class.
        unsafe { qjs::JS_IsPromise(self.0) }
    }

    pub(crate) fn is_bigint(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsBigInt(self.0) }
    }

    pub(crate) fn is_symbol(&self) -> bool {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsSymbol(self.0) }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        // SAFETY: looks at the tag only.
        unsafe { qjs::JS_IsBool(self.0) }.then_some(self.0 == qjs::JS_TRUE)
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        // SAFETY: a number converts without running code.
        unsafe {
            if !qjs::JS_IsNumber(self.0) {
                return None;
            }
            let mut number = 0.0;
            qjs::JS_ToFloat64(engine().context, &mut number, self.0);
            Some(number)
        }
    }

    pub(crate) fn get(&self, name: Atom) -> Result<Value> {
        // SAFETY: value and atom are alive.
        Value::take(unsafe { qjs::JS_GetProperty(engine().context, self.0, name.0) })
    }

    pub(crate) fn get_str(&self, name: &str) -> Result<Value> {
        let name = Atom::new(name);
        let value = self.get(name);
        name.free();
        value
    }

    pub(crate) fn index(&self, index: u32) -> Result<Value> {
        // SAFETY: the value is alive.
        Value::take(unsafe { qjs::JS_GetPropertyUint32(engine().context, self.0, index) })
    }

    /// `length`, as an array says it.
    pub(crate) fn length(&self) -> Result<u32> {
        let mut length = 0;
        // SAFETY: the value is alive.
        if unsafe { qjs::JS_GetLength(engine().context, self.0, &mut length) } < 0 {
            return Err(exception());
        }
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Defines an ordinary property, whatever setters and prototypes say.
    pub(crate) fn define(&self, name: Atom, value: Value) -> Result<()> {
        // SAFETY: takes over `value`; object and atom are alive.
        let status = unsafe {
            qjs::JS_DefinePropertyValue(engine().context, self.0, name.0, value.into_raw(), qjs::JS_PROP_C_W_E as c_int)
        };
        if status < 0 { Err(exception()) } else { Ok(()) }
    }

    /// Defines a property that is not listed among the object's members.
    pub(crate) fn define_hidden(&self, name: Atom, value: Value) -> Result<()> {
        let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;
        // SAFETY: takes over `value`; object and atom are alive.
        let status =
            unsafe { qjs::JS_DefinePropertyValue(engine().context, self.0, name.0, value.into_raw(), flags as c_int) };
        if status < 0 { Err(exception()) } else { Ok(()) }
    }

    /// Whether an object has a property of its own by this name.
    pub(crate) fn has_own(&self, name: Atom) -> bool {
        // SAFETY: object and atom are alive; without a descriptor QuickJS only looks.
        unsafe { qjs::JS_GetOwnProperty(engine().context, std::ptr::null_mut(), self.0, name.0) > 0 }
    }

    pub(crate) fn set_prototype(&self, prototype: &Value) -> Result<()> {
        // SAFETY: both values are alive.
        let status = unsafe { qjs::JS_SetPrototype(engine().context, self.0, prototype.0) };
        if status < 0 { Err(exception()) } else { Ok(()) }
    }

    pub(crate) fn call(&self, this: &Value, arguments: &[Value]) -> Result<Value> {
        // SAFETY: `Value` is a JSValue in memory; QuickJS borrows the arguments.
        Value::take(unsafe {
            qjs::JS_Call(
                engine().context,
                self.0,
                this.0,
                arguments.len() as c_int,
                arguments.as_ptr().cast_mut().cast(),
            )
        })
    }

    /// The text of a string, or what `String(value)` gives.
    pub(crate) fn text(&self) -> Result<Text> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the value is alive; the result is checked for null.
        let start = unsafe { qjs::JS_ToCStringLen2(engine().context, &mut length, self.0, false) };
        if start.is_null() {
            return Err(exception());
        }
        Ok(Text { start, length: length as usize })
    }

    /// Own enumerable string keys, in order.
    pub(crate) fn keys(&self) -> Result<Vec<OwnedAtom>> {
        let mut table = ptr::null_mut();
        let mut count = 0;
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as c_int;
        // SAFETY: the value is alive; QuickJS fills table and count or throws.
        if unsafe { qjs::JS_GetOwnPropertyNames(engine().context, &mut table, &mut count, self.0, flags) } < 0 {
            return Err(exception());
        }
        let mut keys = Vec::with_capacity(count as usize);
        // SAFETY: the table has `count` entries whose atoms are dup'ed before it is freed.
        unsafe {
            for i in 0..count as usize {
                keys.push(OwnedAtom(Atom(qjs::JS_DupAtom(engine().context, (*table.add(i)).atom))));
            }
            qjs::JS_FreePropertyEnum(engine().context, table, count);
        }
        Ok(keys)
    }

    /// The number of the object's internal class; scripts cannot fake it.
    pub(crate) fn class_id(&self) -> u32 {
        // SAFETY: looks at the tag and the object's header only.
        unsafe { qjs::JS_GetClassID(self.0) }
    }

    /// Whether both are the same object.
    pub(crate) fn is_same(&self, other: &Value) -> bool {
        // SAFETY: compares without running code.
        unsafe { qjs::JS_IsStrictEqual(engine().context, self.0, other.0) }
    }
}

/// The largest integer that a JavaScript number holds exactly together with its neighbours.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

const _: () = assert!(size_of::<Value>() == size_of::<qjs::JSValue>());

impl Clone for Value {
    fn clone(&self) -> Self {
        Value::borrowed(self.0)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: this handle owns one reference.
        unsafe { qjs::JS_FreeValue(engine().context, self.0) }
    }
}

impl Text {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: QuickJS keeps the text until it is freed in `drop`.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }

    /// The text, unless it holds a lone surrogate.
    pub(crate) fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    pub(crate) fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: `start` came from JS_ToCStringLen2 and is freed once.
        unsafe { qjs::JS_FreeCString(engine().context, self.start) }
    }
}

impl Atom {
    /// Interns a name; the caller frees it or keeps it for the life of the instance.
    pub(crate) fn new(name: &str) -> Atom {
        // SAFETY: pointer and length are those of `name`.
        Atom(unsafe { qjs::JS_NewAtomLen(engine().context, name.as_ptr().cast(), name.len() as _) })
    }

    pub(crate) fn free(self) {
        // SAFETY: the caller owns the atom.
        unsafe { qjs::JS_FreeAtom(engine().context, self.0) }
    }

    pub(crate) fn name(self) -> String {
        self.text().map(|text| text.to_string_lossy()).unwrap_or_default()
    }

    pub(crate) fn text(self) -> Result<Text> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the atom is alive; the text is freed by `Text`.
        let start = unsafe { qjs::JS_AtomToCStringLen(engine().context, &mut length, self.0) };
        if start.is_null() {
            return Err(exception());
        }
        Ok(Text { start, length: length as usize })
    }
}

/// An atom that is freed with its handle.
pub(crate) struct OwnedAtom(pub(crate) Atom);

impl Drop for OwnedAtom {
    fn drop(&mut self) {
        self.0.free();
    }
}

/// Takes what was thrown out of the context.
pub(crate) fn exception() -> Value {
    // SAFETY: the context is alive; without a pending exception this is undefined.
    Value(unsafe { qjs::JS_GetException(engine().context) })
}

/// Makes `error` the pending exception and gives what a native function then returns.
pub(crate) fn throw(error: Value) -> qjs::JSValue {
    // SAFETY: takes over the error.
    unsafe { qjs::JS_Throw(engine().context, error.into_raw()) }
}

/// `new constructor(...arguments)`.
pub(crate) fn construct(constructor: &Value, arguments: &[Value]) -> Result<Value> {
    // SAFETY: `Value` is a JSValue in memory; QuickJS borrows the arguments.
    Value::take(unsafe {
        qjs::JS_CallConstructor(
            engine().context,
            constructor.raw(),
            arguments.len() as c_int,
            arguments.as_ptr().cast_mut().cast(),
        )
    })
}
