//! What kind of built-in an object is, whatever its prototype says.

use crate::js::{self, Value};

/// Classes that have no test of their own in QuickJS, by id, learnt from one object of each.
pub(crate) struct Classes {
    known: Vec<(u32, Class)>,
}

/// A built-in kind of object, where it matters to somebody.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Plain,
    /// Number, String, Boolean or BigInt objects.
    Boxed,
    Map,
    Set,
    Promise,
    RegExp,
    Date,
    Error,
    ArrayBuffer,
    /// A typed array or a DataView.
    View,
    Generator,
    Weak,
    DomException,
}

impl Classes {
    /// One object of each class to learn, in the order of [`CLASSES`].
    pub(crate) const SAMPLES: &str = "[{}, new Number(0), new String(''), new Boolean(false), Object(0n), \
        new Map(), new Set(), Promise.resolve(), /./, new Date(0), new Error(), new ArrayBuffer(0), \
        new WeakMap(), new WeakSet(), new WeakRef({}), new Uint8Array(), new Int8Array(), new Uint8ClampedArray(), \
        new Int16Array(), new Uint16Array(), new Int32Array(), new Uint32Array(), new BigInt64Array(), \
        new BigUint64Array(), new Float16Array(), new Float32Array(), new Float64Array(), \
        new DataView(new ArrayBuffer(0)), (function* () {})(), new DOMException('')]";

    pub(crate) fn learn(samples: &Value) -> js::Result<Classes> {
        let mut known = Vec::with_capacity(CLASSES.len());
        for (index, class) in CLASSES.into_iter().enumerate() {
            known.push((samples.index(index as u32)?.class_id(), class));
        }
        Ok(Classes { known })
    }

    pub(crate) fn of(&self, object: &Value) -> Class {
        let id = object.class_id();
        self.known.iter().find(|(known, _)| *known == id).map_or(Class::Plain, |(_, class)| *class)
    }
}

const CLASSES: [Class; 30] = [
    // First, since it is asked about most.
    Class::Plain,
    Class::Boxed,
    Class::Boxed,
    Class::Boxed,
    Class::Boxed,
    Class::Map,
    Class::Set,
    Class::Promise,
    Class::RegExp,
    Class::Date,
    Class::Error,
    Class::ArrayBuffer,
    Class::Weak,
    Class::Weak,
    Class::Weak,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::View,
    Class::Generator,
    Class::DomException,
];

impl Class {
    /// With its article, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Class::Plain => "an object",
            Class::Boxed => "a boxed primitive",
            Class::Map => "a Map",
            Class::Set => "a Set",
            Class::Promise => "a Promise (is an `await` missing?)",
            Class::RegExp => "a RegExp",
            Class::Date => "a Date",
            Class::Error => "an Error",
            Class::ArrayBuffer => "an ArrayBuffer",
            Class::View => "a typed array or DataView (is base64 expected?)",
            Class::Generator => "a generator",
            Class::Weak => "a weak reference",
            Class::DomException => "a DOMException",
        }
    }
}
