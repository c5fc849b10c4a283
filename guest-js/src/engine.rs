//! The one engine of an instance: QuickJS, and what a run of it keeps.

use crate::abi::metadata::{ImportFunction, Metadata};
use crate::call::Calls;
use crate::classes::Classes;
use crate::compiled::Compiled;
use crate::frames::{self, Writer};
use crate::js::{Atom, Value};
use crate::modules;
use crate::namespace::{self, Namespaces};
use crate::task::Task;
use crate::timers::Timers;
use crate::values::{RecordNames, camel_case, presence_options};
use crate::{globals, heap};
use javy::quickjs::qjs;
use javy::{Config, Runtime};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

/// How much a run allocates before cycles are first looked for. Javy's default never looks; QuickJS's own
/// is less than what the realm takes, so that every run would begin with a search of it. Afterwards
/// QuickJS looks again whenever the heap has grown by half.
const GC_THRESHOLD_BYTES: usize = 1 << 20;

pub(crate) struct Engine {
    pub(crate) context: *mut qjs::JSContext,
    pub(crate) runtime: *mut qjs::JSRuntime,
    pub(crate) javy: Runtime,
    binding: Cell<Option<&'static Metadata>>,
    pub(crate) atoms: Late<Atoms>,
    pub(crate) intrinsics: Late<Intrinsics>,
    pub(crate) names: Names,
    /// What scripts call interfaces that are members of an export: `everything.$resources`, by interface.
    pub(crate) members: RefCell<BTreeMap<String, String>>,
    pub(crate) namespaces: Namespaces,
    pub(crate) calls: RefCell<Calls>,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) task: RefCell<Option<Task>>,
    /// A script that is compiled and not evaluated yet.
    pub(crate) compiled: RefCell<Option<Compiled>>,
    /// Whether what another instance has become may still be put in place.
    pub(crate) is_fresh: Cell<bool>,
    /// Whether weak references keep something until the run yields.
    pub(crate) keeps_weak: Cell<bool>,
    /// Whether an answer was taken since the host was last told that the run is idle.
    pub(crate) has_answer: Cell<bool>,
    /// Where QuickJS keeps the frame that is being executed, from the beginning of its runtime.
    pub(crate) frames_offset: Cell<usize>,
    /// What asks the host for the next answer.
    pub(crate) idle: Cell<Option<&'static ImportFunction>>,
    /// The waitable set of the run's subtasks; zero until there is one.
    pub(crate) waitables: Cell<u32>,
}

/// Property names that are used again and again.
pub(crate) struct Atoms {
    pub(crate) code: Atom,
    pub(crate) default: Atom,
    pub(crate) details: Atom,
    pub(crate) message: Atom,
    pub(crate) name: Atom,
    pub(crate) retryable: Atom,
    pub(crate) stack: Atom,
    pub(crate) tag: Atom,
    pub(crate) to_json: Atom,
    pub(crate) val: Atom,
}

/// Objects of the realm as they were before any script could change them.
pub(crate) struct Intrinsics {
    pub(crate) error: Value,
    /// Writes out stacks.
    pub(crate) writer: Writer,
    pub(crate) capability_error: Value,
    /// The prototype of the promise of a list.
    pub(crate) capability_promise: Value,
    pub(crate) classes: Classes,
    /// Lets go of what weak references keep until the run yields.
    pub(crate) release_weak: Value,
    /// `async (value) => value`: the promise of any value, thenables included.
    pub(crate) promise_of: Value,
    /// What to use instead of globals that agents expect and this realm lacks: name to sentence.
    pub(crate) absent: Value,
    /// An HTTP request as scripts see it.
    pub(crate) to_request: Value,
    /// What a script's answer to one means: status, headers and bytes.
    pub(crate) to_response: Value,
}

/// A value that is set once, while the engine starts.
pub(crate) struct Late<T>(OnceCell<T>);

impl<T> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => core::arch::wasm32::unreachable(),
        }
    }
}

struct Global(OnceCell<Engine>);

// SAFETY: a core module without threads has one.
unsafe impl Sync for Global {}

static ENGINE: Global = Global(OnceCell::new());

pub(crate) fn engine() -> &'static Engine {
    match ENGINE.0.get() {
        Some(engine) => engine,
        None => core::arch::wasm32::unreachable(),
    }
}

/// Whether a run has begun: a binding has been linked to the snapshot.
pub(crate) fn is_bound() -> bool {
    ENGINE.0.get().is_some_and(|engine| engine.binding.get().is_some())
}

/// The tables of the binding this instance was linked with.
pub(crate) fn binding() -> &'static Metadata {
    match engine().binding.get() {
        Some(metadata) => metadata,
        None => core::arch::wasm32::unreachable(),
    }
}

/// Starts the engine; `pack/` calls this once and takes the snapshot that every run starts from.
///
/// Nothing here may read the clock or randomness: it would be the same in every run.
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    let mut config = Config::default();
    config.weak_ref(true);
    let Ok(javy) = Runtime::new(config) else { core::arch::wasm32::unreachable() };
    let context = javy.context().with(|context| context.as_raw().as_ptr());
    // SAFETY: the context is alive.
    let runtime = unsafe { qjs::JS_GetRuntime(context) };
    let engine = Engine {
        context,
        runtime,
        javy,
        binding: Cell::new(None),
        atoms: Late(OnceCell::new()),
        intrinsics: Late(OnceCell::new()),
        names: Names::default(),
        members: RefCell::default(),
        namespaces: Namespaces::default(),
        calls: RefCell::default(),
        timers: RefCell::default(),
        task: RefCell::default(),
        compiled: RefCell::default(),
        is_fresh: Cell::new(true),
        keeps_weak: Cell::new(false),
        has_answer: Cell::new(false),
        frames_offset: Cell::new(0),
        idle: Cell::new(None),
        waitables: Cell::new(0),
    };
    if ENGINE.0.set(engine).is_err() {
        core::arch::wasm32::unreachable();
    }
    let engine = self::engine();
    let _ = engine.atoms.0.set(Atoms {
        code: Atom::new("code"),
        default: Atom::new("default"),
        details: Atom::new("details"),
        message: Atom::new("message"),
        name: Atom::new("name"),
        retryable: Atom::new("retryable"),
        stack: Atom::new("stack"),
        tag: Atom::new("tag"),
        to_json: Atom::new("toJSON"),
        val: Atom::new("val"),
    });
    let _ = engine.intrinsics.0.set(globals::install());
    frames::install();
    modules::install();
    namespace::install();
    crate::errors::install();
    globals::release_weak();
    collect_garbage(engine);
}

/// Leaves the snapshot without garbage, and counts from there.
pub(crate) fn collect_garbage(engine: &Engine) {
    // SAFETY: the runtime is alive; nothing holds a reference it does not own; the counters are plain data.
    unsafe {
        qjs::JS_RunGC(engine.runtime);
        let mut usage = std::mem::zeroed();
        qjs::JS_ComputeMemoryUsage(engine.runtime, &mut usage);
        qjs::JS_SetGCThreshold(engine.runtime, (usage.malloc_size as usize + GC_THRESHOLD_BYTES) as _);
    }
    heap::seal();
}

impl Engine {
    pub(crate) fn bind(&self, metadata: &'static Metadata) {
        self.binding.set(Some(metadata));
    }
}

/// Names of the binding's types as scripts write them, made when they are first used.
#[derive(Default)]
pub(crate) struct Names {
    records: RefCell<Slots<Rc<RecordNames>>>,
    flags: RefCell<Slots<Rc<[Atom]>>>,
    enums: RefCell<Slots<Rc<[Value]>>>,
    presence_options: OnceCell<Vec<usize>>,
}

type Slots<T> = Vec<Option<T>>;

impl Names {
    pub(crate) fn record(&self, index: usize) -> Rc<RecordNames> {
        cached(&self.records, index, || Rc::new(RecordNames::read(index)))
    }

    /// Whether an `option` around another only says that a member is there.
    pub(crate) fn is_presence(&self, option: usize) -> bool {
        self.presence_options.get_or_init(presence_options).binary_search(&option).is_ok()
    }

    pub(crate) fn flags(&self, index: usize) -> Rc<[Atom]> {
        cached(&self.flags, index, || binding().flag_names(index).map(|name| Atom::new(&camel_case(name))).collect())
    }

    pub(crate) fn enum_values(&self, index: usize) -> Rc<[Value]> {
        cached(&self.enums, index, || binding().enum_names(index).map(Value::string).collect())
    }
}

fn cached<T: Clone>(slots: &RefCell<Slots<T>>, index: usize, make: impl FnOnce() -> T) -> T {
    if let Some(Some(found)) = slots.borrow().get(index) {
        return found.clone();
    }
    let made = make();
    let mut slots = slots.borrow_mut();
    if slots.len() <= index {
        slots.resize(index + 1, None);
    }
    slots[index] = Some(made.clone());
    made
}
