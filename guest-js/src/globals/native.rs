//! The native functions that the JavaScript beside this file is built on.

use crate::engine::engine;
use crate::errors;
use crate::js::{self, Value};
use crate::namespace::{self, Named};
use crate::values::camel_case;
use crate::{call, host, zones};
use javy::quickjs::{
    Array, Ctx, Function, IntoJs, Object, TypedArray, Value as QuickValue,
    function::{Opt, Rest},
    object::Property,
    qjs,
};
use url::Url;

/// An object with all of them.
pub(crate) fn object() -> Value {
    let made = engine().javy.context().with(|context| fill(context).map(|object| Value::borrowed(object.as_raw())));
    match made {
        Ok(object) => object,
        Err(_) => core::arch::wasm32::unreachable(),
    }
}

fn fill(context: Ctx<'_>) -> javy::quickjs::Result<Object<'_>> {
    let native = Object::new(context.clone())?;
    macro_rules! define {
        ($($name:literal: $function:expr;)*) => {
            $(native.set($name, Function::new(context.clone(), $function)?)?;)*
        };
    }
    define! {
        "now": host::now_milliseconds;
        "monotonic": host::monotonic_milliseconds;
        "random": random;
        "write": |level: String, text: String| super::write_console(&level, &text);
        "setTimer": set_timer;
        "clearTimer": |id: u32| engine().timers.borrow_mut().clear(id);
        "reportError": |error: QuickValue<'_>| errors::report(Value::borrowed(error.as_raw()));
        "parseUrl": parse_url;
        "setUrlPart": set_url_part;
        "keepsWeak": || engine().keeps_weak.set(true);
        "promiseState": promise_state;
        "proxyTarget": proxy_target;
        "classId": |value: QuickValue<'_>| namespace::shown_class_id(&Value::borrowed(value.as_raw()));
        "bytesToString": bytes_to_string;
        "stringToBytes": string_to_bytes;
        "digest": digest;
        "zoneName": |name: String| zones::name(&name);
        "zoneOffset": |name: String, seconds: f64| zones::offset(&name, seconds as i64);
    }
    let capabilities = Object::new(context.clone())?;
    capabilities.set("cancelCall", Function::new(context.clone(), cancel_call)?)?;
    capabilities.set("callCapability", Function::new(context.clone(), call_capability)?)?;
    context.globals().prop("__agentSpaces", Property::from(capabilities).writable().configurable())?;
    Ok(native)
}

fn random(bytes: TypedArray<'_, u8>) {
    let length = bytes.len();
    if let Some(raw) = bytes.as_raw() {
        // SAFETY: the array's own buffer, of this length, and no JavaScript runs meanwhile.
        host::random_bytes(unsafe { std::slice::from_raw_parts_mut(raw.ptr.as_ptr(), length) });
    }
}

fn set_timer(callback: Function<'_>, delay: f64, repeats: bool) -> u32 {
    engine().timers.borrow_mut().set(Value::borrowed(callback.as_raw()), delay, repeats)
}

/// `null` for what is no URL, else its parts.
fn parse_url<'js>(
    context: Ctx<'js>,
    input: String,
    base: Opt<Option<String>>,
) -> javy::quickjs::Result<QuickValue<'js>> {
    let parsed = match base.0.flatten() {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&input)),
        None => Url::parse(&input),
    };
    match parsed {
        Ok(url) => parts(context.clone(), &url)?.into_js(&context),
        Err(_) => Ok(QuickValue::new_null(context)),
    }
}

fn parts<'js>(context: Ctx<'js>, url: &Url) -> javy::quickjs::Result<Array<'js>> {
    use url::quirks;
    let parts = Array::new(context)?;
    let origin = quirks::origin(url);
    let texts = [
        quirks::href(url),
        &origin,
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    for (i, text) in texts.into_iter().enumerate() {
        parts.set(i, text)?;
    }
    Ok(parts)
}

fn set_url_part<'js>(
    context: Ctx<'js>,
    href: String,
    part: String,
    value: String,
) -> javy::quickjs::Result<QuickValue<'js>> {
    use url::quirks;
    let Ok(mut url) = Url::parse(&href) else { return Ok(QuickValue::new_null(context)) };
    // A setter that refuses its value leaves the URL as it was, as the standard has it.
    let _ = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).map_err(drop),
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    parts(context.clone(), &url)?.into_js(&context)
}

fn promise_state<'js>(context: Ctx<'js>, promise: QuickValue<'js>) -> javy::quickjs::Result<Array<'js>> {
    let answer = Array::new(context.clone())?;
    // SAFETY: the promise is alive; what it gives is owned by the new value.
    unsafe {
        let state = qjs::JS_PromiseState(context.as_raw().as_ptr(), promise.as_raw());
        answer.set(0, state as i32)?;
        let result = qjs::JS_PromiseResult(context.as_raw().as_ptr(), promise.as_raw());
        answer.set(1, QuickValue::from_raw(context, result))?;
    }
    Ok(answer)
}

fn proxy_target<'js>(context: Ctx<'js>, value: QuickValue<'js>) -> QuickValue<'js> {
    // SAFETY: asked of a live value; the target is owned by the new value.
    unsafe {
        if !qjs::JS_IsProxy(value.as_raw()) {
            return QuickValue::new_undefined(context);
        }
        let target = qjs::JS_GetProxyTarget(context.as_raw().as_ptr(), value.as_raw());
        match Value::take(target) {
            Ok(target) => QuickValue::from_raw(context, target.into_raw()),
            // A revoked proxy throws.
            Err(_) => QuickValue::new_null(context),
        }
    }
}

fn bytes_to_string(bytes: TypedArray<'_, u8>) -> String {
    String::from_utf8_lossy(bytes.as_bytes().unwrap_or_default()).into_owned()
}

fn string_to_bytes<'js>(context: Ctx<'js>, text: String) -> javy::quickjs::Result<QuickValue<'js>> {
    // Memory of the engine's own: a buffer over ours could not change its length.
    TypedArray::<u8>::new_copy(context.clone(), text.as_bytes())?.into_js(&context)
}

/// Ends the call that a promise is of.
fn cancel_call<'js>(promise: QuickValue<'js>, reason: QuickValue<'js>) {
    call::cancel(&Value::borrowed(promise.as_raw()), Value::borrowed(reason.as_raw()));
}

/// The hash of bytes; nothing where there is no such algorithm.
fn digest<'js>(
    context: Ctx<'js>,
    algorithm: String,
    bytes: TypedArray<'js, u8>,
) -> javy::quickjs::Result<QuickValue<'js>> {
    use sha2::Digest as _;
    let bytes = bytes.as_bytes().unwrap_or_default();
    let hash = match algorithm.as_str() {
        "SHA-1" => <sha1::Sha1 as sha1::Digest>::digest(bytes).to_vec(),
        "SHA-256" => sha2::Sha256::digest(bytes).to_vec(),
        "SHA-384" => sha2::Sha384::digest(bytes).to_vec(),
        "SHA-512" => sha2::Sha512::digest(bytes).to_vec(),
        _ => return Ok(QuickValue::new_undefined(context)),
    };
    TypedArray::<u8>::new_copy(context.clone(), hash)?.into_js(&context)
}

/// The same as calling the function that the script imported.
fn call_capability<'js>(
    context: Ctx<'js>,
    capability: String,
    function: String,
    parameters: Rest<QuickValue<'js>>,
) -> javy::quickjs::Result<QuickValue<'js>> {
    let label = format!("{capability}.{function}");
    let outcome = match namespace::find(&label) {
        Named::Function(index) => {
            let arguments: Vec<Value> = parameters.0.iter().map(|value| Value::borrowed(value.as_raw())).collect();
            call::call(index, &arguments)
        }
        Named::Missing(interface) => namespace::missing(interface, label.rsplit('.').next().unwrap_or(&label)),
        Named::NotImported => call::rejected(errors::not_imported(&camel_case(&label))),
    };
    // SAFETY: the raw value is given away once.
    match outcome {
        Ok(value) => Ok(unsafe { QuickValue::from_raw(context, value.into_raw()) }),
        Err(error) => {
            js::throw(error);
            Err(javy::quickjs::Error::Exception)
        }
    }
}
