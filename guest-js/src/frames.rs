//! The frames of a script that are being executed, kept to be written out later.
//!
//! Every call of a capability keeps where it was made, and few ever tell it: only where a call fails. QuickJS has one way
//! to a stack, which writes it out, and that takes as much as the rest of a call. So the functions and their positions
//! are kept as QuickJS has them. Where a call fails, QuickJS writes them out as if they were being executed again.
//!
//! It has no interface for either. [`install`] finds out where it keeps the frames, and compares what it writes of kept
//! frames with what it writes by itself. That is while the engine is packed: a QuickJS that lays them out otherwise is
//! never shipped.

use crate::engine::engine;
use crate::globals;
use crate::js::{self, Value};
use javy::quickjs::qjs;
use std::cell::RefCell;
use std::ffi::c_int;
use std::ptr;

/// QuickJS writes out no more, whatever a script asks for.
const MAX_FRAMES: usize = 64;

/// Most scripts call from two to four functions deep.
const USUAL_FRAMES: usize = 6;

/// How much of a runtime is searched: less than it has.
const SEARCHED_BYTES: usize = 720;

/// `JSStackFrame`, as far as writing it out reads it.
#[repr(C)]
struct Frame {
    previous: *const Frame,
    function: qjs::JSValue,
    variables: [*const u8; 3],
    /// The instruction after the one that is being executed; null in a native function.
    position: *const u8,
    /// The rest is not read.
    rest: [u64; 4],
}

/// Frames, innermost first: each function, and its position within code that it keeps alive.
pub(crate) struct Frames(Vec<(Value, *const u8)>);

/// The accessors that decide how QuickJS writes out a stack, and the one that gives it.
pub(crate) struct Writer {
    stack_of: Value,
    prepare: Value,
    set_prepare: Value,
    limit: Value,
}

impl Writer {
    /// Reads what `globals/stacks.js` leaves.
    pub(crate) fn read(found: &Value) -> js::Result<Writer> {
        Ok(Writer {
            stack_of: found.get_str("stackOf")?,
            prepare: found.get_str("prepare")?,
            set_prepare: found.get_str("setPrepare")?,
            limit: found.get_str("limit")?,
        })
    }

    /// What QuickJS keeps as an error's stack.
    pub(crate) fn stack_of(&self, error: &Value) -> Option<Value> {
        self.stack_of.call(error, &[]).ok()
    }

    /// The text of the stack that an error is made with; nothing where it has none.
    ///
    /// What a script has set to format stacks is not called, and is back afterwards.
    fn text(&self, make: impl FnOnce() -> qjs::JSValue) -> Option<String> {
        let this = &engine().intrinsics.error;
        // Code of the script would convert any other limit.
        if self.limit.call(this, &[]).ok()?.as_number().is_none() {
            return Some(String::new());
        }
        let theirs = self.prepare.call(this, &[]).ok()?;
        self.set_prepare.call(this, &[Value::UNDEFINED]).ok()?;
        let error = Value::take(make());
        self.set_prepare.call(this, &[theirs]).ok()?;
        let stack = self.stack_of(&error.ok()?).filter(Value::is_string)?;
        Some(stack.text().ok()?.to_string_lossy())
    }
}

/// Where QuickJS keeps the frame that is being executed.
fn executing() -> *mut *const Frame {
    // SAFETY: the place was found within the runtime.
    unsafe { engine().runtime.cast::<u8>().add(engine().frames_offset.get()).cast() }
}

impl Frames {
    /// Those that are being executed.
    pub(crate) fn take() -> Frames {
        let mut frames = Vec::with_capacity(USUAL_FRAMES);
        // SAFETY: QuickJS keeps the frames in a list for as long as they are being executed, which ends with null.
        unsafe {
            let mut next = executing().read();
            while !next.is_null() && frames.len() < MAX_FRAMES {
                frames.push((Value::borrowed((*next).function), (*next).position));
                next = (*next).previous;
            }
        }
        Frames(frames)
    }

    /// As QuickJS writes them; nothing while it writes out others.
    pub(crate) fn text(&self) -> Option<String> {
        let mut frames: Vec<Frame> =
            self.0.iter().map(|(function, position)| Frame::new(function, *position)).collect();
        for index in 1..frames.len() {
            frames[index - 1].previous = &raw const frames[index];
        }
        let first = if frames.is_empty() { ptr::null() } else { frames.as_ptr() };
        engine().intrinsics.writer.text(|| {
            // SAFETY: the frames live until they are taken out again, and no code of the script runs meanwhile. What is
            // read of a frame is its function, its position and the next one.
            unsafe {
                let executing = executing();
                let others = executing.replace(first);
                let error = qjs::JS_NewError(engine().context);
                executing.write(others);
                error
            }
        })
    }
}

impl Frame {
    fn new(function: &Value, position: *const u8) -> Frame {
        let (previous, variables) = (ptr::null(), [ptr::null(); 3]);
        Frame { previous, function: function.raw(), variables, position, rest: [0; 4] }
    }
}

/// What the comparison has seen: kept frames, and the same written out by QuickJS itself.
struct Seen(RefCell<Option<(Frames, Option<String>)>>);

// SAFETY: a core module without threads has one.
unsafe impl Sync for Seen {}

static SEEN: Seen = Seen(RefCell::new(None));

/// Calls its argument within functions of three kinds, at places that differ.
const COMPARISON: &str = "(look) => {
  function within() {
    new (class Here { constructor() { this.seen =
      look(look); } })();
  }
  [1].forEach(() => within());
}";

/// Finds out where the frames are, and that they are what they are taken for.
pub(crate) fn install() {
    if !is_as_expected().unwrap_or(false) {
        core::arch::wasm32::unreachable();
    }
}

fn is_as_expected() -> js::Result<bool> {
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    // SAFETY: `look` has the signature of a native function, and QuickJS copies the name.
    let look = unsafe { qjs::JS_NewCFunction2(engine().context, Some(look), c"look".as_ptr(), 1, kind, 0) };
    globals::evaluate("frames", COMPARISON)?.call(&Value::UNDEFINED, &[Value::take(look)?])?;
    let Some((frames, Some(written))) = SEEN.0.take() else { return Ok(false) };
    Ok(frames.0.len() > 5 && written.lines().count() == frames.0.len() && frames.text() == Some(written))
}

/// Called with itself: its own frame is the one that has it for its function.
unsafe extern "C" fn look(
    _context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    unsafe extern "C" {
        /// The stack's top.
        static __global_base: u8;
    }
    let here = 0_u8;
    let stack = (&raw const here).addr()..(&raw const __global_base).addr() - size_of::<Frame>();
    // SAFETY: the runtime has so many bytes, and what is looked at beyond it is on the stack.
    let is_own = |offset: &usize| unsafe {
        let frame = engine().runtime.cast::<u8>().add(*offset).cast::<*const Frame>().read();
        stack.contains(&frame.addr()) && frame.is_aligned() && (*frame).function == *arguments
    };
    let mut found = (0..SEARCHED_BYTES).step_by(size_of::<usize>()).filter(is_own);
    if let (Some(offset), None) = (found.next(), found.next()) {
        engine().frames_offset.set(offset);
        // SAFETY: the context is alive.
        let written = engine().intrinsics.writer.text(|| unsafe { qjs::JS_NewError(engine().context) });
        *SEEN.0.borrow_mut() = Some((Frames::take(), written));
    }
    qjs::JS_UNDEFINED
}
