//! The canonical ABI of imported functions, by the tables of types alone.
//!
//! A binding has no code for the values of a function: it asks for its parameters, calls what it imports, and hands over
//! the results. So a new set of imports has little to compile, however many types it has. Values pass through the same
//! [`pop`](super::pop) and [`push`](super::push) as those of bindings with code of their own.

use super::context::Context;
use super::layout::{Extent, align, are_more_than, case_bytes, flags_bytes, flat_count, max_align};
use super::memory::Block;
use super::metadata::{ImportFunction, Kind, Type};
use super::pop::*;
use super::push::*;
use crate::engine::binding;
use crate::heap::out_of_memory;

/// The most values that a function takes as such; more are in memory.
const MAX_FLAT_PARAMETERS: usize = 16;
const MAX_FLAT_ASYNC_PARAMETERS: usize = 4;

/// A pointer to the results comes after the parameters.
pub(super) const MAX_FLAT: usize = MAX_FLAT_PARAMETERS + 1;

/// The most values that a plain function returns as such.
const MAX_FLAT_RESULTS: usize = 1;

/// What a function is called with, one word each. A value that is narrower than its place is extended by zeros, which is
/// also how the canonical ABI joins the cases that share a place.
pub(super) struct Flat {
    values: [u64; MAX_FLAT],
    count: usize,
}

impl Flat {
    pub(super) const NONE: Flat = Flat { values: [0; MAX_FLAT], count: 0 };

    fn add(&mut self, bits: u64) {
        if let Some(value) = self.values.get_mut(self.count) {
            *value = bits;
        }
        self.count += 1;
    }
}

/// Where a value goes.
enum Place<'a> {
    /// An address that the value has to itself.
    Memory(*mut u8),
    Flat(&'a mut Flat),
}

impl Place<'_> {
    /// Stores a scalar of this many bytes; the bits above are zero.
    fn scalar(&mut self, bits: u64, size: usize) {
        match self {
            Place::Flat(flat) => flat.add(bits),
            // SAFETY: the address is aligned for the type, and that many bytes are the value's.
            Place::Memory(start) => unsafe {
                match size {
                    1 => start.write(bits as u8),
                    2 => start.cast::<u16>().write(bits as u16),
                    4 => start.cast::<u32>().write(bits as u32),
                    _ => start.cast::<u64>().write(bits),
                }
            },
        }
    }

    /// Stores a text or list.
    fn pointer(&mut self, start: *const u8, length: usize) {
        let (start, length) = (start.expose_provenance() as u64, length as u64);
        match self {
            Place::Flat(flat) => {
                flat.add(start);
                flat.add(length);
            }
            // SAFETY: eight bytes are the value's. They are aligned for four.
            Place::Memory(at) => unsafe { at.cast::<u64>().write_unaligned(start | length << 32) },
        }
    }

    /// Stores fields, one after the other.
    fn fields(&mut self, types: impl Iterator<Item = Type>, mut store: impl FnMut(&mut Place<'_>, Type)) {
        match self {
            Place::Flat(_) => types.for_each(|ty| store(self, ty)),
            Place::Memory(start) => each_field(*start, types, |at, ty| store(&mut Place::Memory(at), ty)),
        }
    }

    /// Stores a case with its payload.
    fn case(
        &mut self,
        case: u32,
        bytes: usize,
        payloads: impl Iterator<Item = Type> + Clone,
        store: impl FnOnce(&mut Place<'_>),
    ) {
        self.scalar(case.into(), bytes);
        match self {
            Place::Memory(start) => store(&mut Place::Memory(payload(*start, bytes, payloads))),
            Place::Flat(flat) => {
                let end = flat.count + payloads.map(flat_count).max().unwrap_or(0);
                store(&mut Place::Flat(flat));
                while flat.count < end {
                    flat.add(0);
                }
            }
        }
    }
}

/// An address further on in a value.
fn offset(start: *mut u8, bytes: usize) -> *mut u8 {
    start.wrapping_add(bytes)
}

/// Where the payload of a case is.
fn payload(start: *mut u8, case_bytes: usize, payloads: impl Iterator<Item = Type>) -> *mut u8 {
    offset(start, case_bytes.next_multiple_of(max_align(1, payloads)))
}

/// Goes through the fields that begin at an address. The size of the last one is of no interest.
fn each_field(start: *mut u8, types: impl Iterator<Item = Type>, mut each: impl FnMut(*mut u8, Type)) {
    let mut end = 0;
    let mut types = types.peekable();
    while let Some(ty) = types.next() {
        let at = if types.peek().is_some() {
            let extent = Extent::of(ty);
            let at = usize::next_multiple_of(end, extent.align);
            end = at + extent.size;
            at
        } else {
            end.next_multiple_of(align(ty))
        };
        each(offset(start, at), ty);
    }
}

/// Stores the next checked value of a call.
///
/// # Safety
/// `cx` is the context of the call in progress, and its next value was checked against `ty`.
unsafe fn lower(cx: *mut Context, ty: Type, to: &mut Place<'_>) {
    // SAFETY: the caller says so, and each value inside is popped as its type says.
    unsafe {
        match binding().kind(ty) {
            Kind::Bool => to.scalar(wit_dylib_pop_bool(cx).into(), 1),
            Kind::U8 => to.scalar(wit_dylib_pop_u8(cx).into(), 1),
            Kind::S8 => to.scalar((i32::from(wit_dylib_pop_s8(cx)) as u32).into(), 1),
            Kind::U16 => to.scalar(wit_dylib_pop_u16(cx).into(), 2),
            Kind::S16 => to.scalar((i32::from(wit_dylib_pop_s16(cx)) as u32).into(), 2),
            Kind::U32 => to.scalar(wit_dylib_pop_u32(cx).into(), 4),
            Kind::S32 => to.scalar((wit_dylib_pop_s32(cx) as u32).into(), 4),
            Kind::U64 => to.scalar(wit_dylib_pop_u64(cx), 8),
            Kind::S64 => to.scalar(wit_dylib_pop_s64(cx) as u64, 8),
            Kind::F32 => to.scalar(wit_dylib_pop_f32(cx).to_bits().into(), 4),
            Kind::F64 => to.scalar(wit_dylib_pop_f64(cx).to_bits(), 8),
            Kind::Char => to.scalar(wit_dylib_pop_char(cx).into(), 4),
            Kind::String | Kind::Json => {
                let mut start = std::ptr::null();
                let length = wit_dylib_pop_string(cx, &mut start);
                to.pointer(start, length);
            }
            Kind::List(index) => lower_list(cx, index, to),
            Kind::Record(index) => {
                wit_dylib_pop_record(cx, index);
                to.fields(binding().record(index).iter().map(|field| field.ty), |to, ty| lower(cx, ty, to));
            }
            Kind::Tuple(index) => {
                wit_dylib_pop_tuple(cx, index);
                to.fields(binding().tuple(index).iter().copied(), |to, ty| lower(cx, ty, to));
            }
            Kind::Flags(index) => to.scalar(wit_dylib_pop_flags(cx, index).into(), flags_bytes(index)),
            Kind::Enum(index) => {
                to.scalar(wit_dylib_pop_enum(cx, index).into(), case_bytes(binding().enum_names(index).len()));
            }
            Kind::Variant(index) => {
                let cases = binding().variant(index);
                let case = wit_dylib_pop_variant(cx, index);
                let payload = cases[case as usize].ty;
                let payloads = cases.iter().map(|case| case.ty);
                to.case(case, case_bytes(cases.len()), payloads, |to| lower(cx, payload, to));
            }
            Kind::Option(index) => {
                let some = binding().option(index);
                let case = wit_dylib_pop_option(cx, index);
                to.case(case, 1, [some].into_iter(), |to| {
                    if case != 0 {
                        lower(cx, some, to);
                    }
                });
            }
            Kind::Result(index) => {
                let (ok, err) = binding().result(index);
                let case = wit_dylib_pop_result(cx, index);
                to.case(case, 1, [ok, err].into_iter(), |to| lower(cx, if case == 0 { ok } else { err }, to));
            }
            Kind::Empty => {}
            Kind::Unsupported => core::arch::wasm32::unreachable(),
        }
    }
}

/// Stores a list. One of bytes lies where it is; others are stored item by item.
///
/// # Safety
/// As for [`lower`].
unsafe fn lower_list(cx: *mut Context, index: usize, to: &mut Place<'_>) {
    // SAFETY: the caller says so.
    unsafe {
        let mut start = std::ptr::null();
        let length = wit_dylib_pop_list(cx, index, &mut start);
        if !start.is_null() {
            return to.pointer(start, length);
        }
        let ty = binding().list(index);
        let item = Extent::of(ty);
        // A short value may stand for a large item, as `none` does.
        let Some(size) = item.size.checked_mul(length) else { out_of_memory() };
        let items = Block::new(size, item.align);
        let start = items.start();
        for at in 0..length {
            wit_dylib_pop_iter_next(cx, index);
            lower(cx, ty, &mut Place::Memory(offset(start, at * item.size)));
        }
        wit_dylib_pop_iter(cx, index);
        (*cx).keep_block(items);
        to.pointer(start, length);
    }
}

/// Pushes the value that is stored at an address, and gives back what it was allocated in.
///
/// # Safety
/// `cx` is the context of the call in progress, and the host has stored a value of type `ty` there.
unsafe fn lift(cx: *mut Context, ty: Type, at: *mut u8) {
    // SAFETY: the caller says so; values inside lie where the canonical ABI has them.
    unsafe {
        match binding().kind(ty) {
            Kind::Bool => wit_dylib_push_bool(cx, at.read().into()),
            Kind::U8 => wit_dylib_push_u8(cx, at.read()),
            Kind::S8 => wit_dylib_push_s8(cx, at.read() as i8),
            Kind::U16 => wit_dylib_push_u16(cx, at.cast::<u16>().read()),
            Kind::S16 => wit_dylib_push_s16(cx, at.cast::<i16>().read()),
            Kind::U32 => wit_dylib_push_u32(cx, word(at)),
            Kind::S32 => wit_dylib_push_s32(cx, word(at) as i32),
            Kind::U64 => wit_dylib_push_u64(cx, at.cast::<u64>().read()),
            Kind::S64 => wit_dylib_push_s64(cx, at.cast::<i64>().read()),
            Kind::F32 => wit_dylib_push_f32(cx, f32::from_bits(word(at))),
            Kind::F64 => wit_dylib_push_f64(cx, at.cast::<f64>().read()),
            Kind::Char => wit_dylib_push_char(cx, word(at)),
            Kind::String | Kind::Json => {
                let (start, length) = pointer_at(at);
                wit_dylib_push_string(cx, start, length);
            }
            Kind::List(index) => lift_list(cx, index, at),
            Kind::Record(index) => {
                lift_fields(cx, binding().record(index).iter().map(|field| field.ty), at);
                wit_dylib_push_record(cx, index);
            }
            Kind::Tuple(index) => {
                lift_fields(cx, binding().tuple(index).iter().copied(), at);
                wit_dylib_push_tuple(cx, index);
            }
            Kind::Flags(index) => wit_dylib_push_flags(cx, index, case_at(at, flags_bytes(index))),
            Kind::Enum(index) => {
                wit_dylib_push_enum(cx, index, case_at(at, case_bytes(binding().enum_names(index).len())));
            }
            Kind::Variant(index) => {
                let cases = binding().variant(index);
                let bytes = case_bytes(cases.len());
                let case = case_at(at, bytes);
                let Some(member) = cases.get(case as usize) else { core::arch::wasm32::unreachable() };
                lift(cx, member.ty, payload(at, bytes, cases.iter().map(|case| case.ty)));
                wit_dylib_push_variant(cx, index, case);
            }
            Kind::Option(index) => {
                let (some, case) = (binding().option(index), case_at(at, 1));
                if case != 0 {
                    lift(cx, some, payload(at, 1, [some].into_iter()));
                }
                wit_dylib_push_option(cx, index, case);
            }
            Kind::Result(index) => {
                let ((ok, err), case) = (binding().result(index), case_at(at, 1));
                lift(cx, if case == 0 { ok } else { err }, payload(at, 1, [ok, err].into_iter()));
                wit_dylib_push_result(cx, index, case);
            }
            Kind::Empty => {}
            Kind::Unsupported => core::arch::wasm32::unreachable(),
        }
    }
}

/// # Safety
/// As for [`lift`].
unsafe fn lift_fields(cx: *mut Context, types: impl Iterator<Item = Type>, at: *mut u8) {
    // SAFETY: the caller says so.
    each_field(at, types, |at, ty| unsafe { lift(cx, ty, at) });
}

/// # Safety
/// As for [`lift`].
unsafe fn lift_list(cx: *mut Context, index: usize, at: *mut u8) {
    // SAFETY: the caller says so. A list of bytes is taken over as it is; the memory of another is given back.
    unsafe {
        let (start, length) = pointer_at(at);
        if wit_dylib_push_list(cx, index, start, length) != 0 {
            return;
        }
        let ty = binding().list(index);
        let item = Extent::of(ty);
        let _items = Block::adopt(start, item.size * length, item.align);
        for index_of in 0..length {
            lift(cx, ty, offset(start, index_of * item.size));
            wit_dylib_list_append(cx, index);
        }
    }
}

/// # Safety
/// A word lies there.
unsafe fn word(at: *mut u8) -> u32 {
    // SAFETY: the caller says so.
    unsafe { at.cast::<u32>().read() }
}

/// # Safety
/// A case or flags of this size lie there.
unsafe fn case_at(at: *mut u8, bytes: usize) -> u32 {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            1 => at.read().into(),
            2 => at.cast::<u16>().read().into(),
            _ => word(at),
        }
    }
}

/// # Safety
/// A text or list lies there.
unsafe fn pointer_at(at: *mut u8) -> (*mut u8, usize) {
    // SAFETY: the caller says so.
    unsafe { (std::ptr::with_exposed_provenance_mut(word(at) as usize), word(offset(at, 4)) as usize) }
}

impl ImportFunction {
    fn is_async(&self) -> bool {
        self.start.is_some()
    }

    /// Whether its parameters are in memory.
    fn is_indirect(&self) -> bool {
        let most = if self.is_async() { MAX_FLAT_ASYNC_PARAMETERS } else { MAX_FLAT_PARAMETERS };
        are_more_than(most, self.parameters())
    }

    /// Whether its result is in memory.
    fn returns_indirectly(&self) -> bool {
        match binding().kind(self.result) {
            Kind::Empty => false,
            _ => self.is_async() || are_more_than(MAX_FLAT_RESULTS, &[self.result]),
        }
    }
}

/// Called by the binding for what an imported function is called with: one word for each parameter of the core function.
/// An asynchronous call has an area for what the host reads and writes later; another gets one for itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn agent_spaces_lower(which: usize, cx: *mut Context, area: *mut u8) -> *const u64 {
    let function = &binding().imports()[which];
    let (is_indirect, returns_indirectly) = (function.is_indirect(), function.returns_indirectly());
    // The parameters begin where the area begins. The result is one more field: it begins right behind the last of them,
    // not behind their padding, for which the area of the tables has no room.
    let mut whole = Extent::NOTHING;
    if is_indirect {
        for ty in function.parameters() {
            whole.add(Extent::of(*ty));
        }
    }
    let result_start = whole.size.next_multiple_of(if returns_indirectly { align(function.result) } else { 1 });
    // SAFETY: the binding passes the context of the call, which holds what the parameters' types say, and an area that is
    // as large as the tables say.
    unsafe {
        let area = match area.is_null() && (is_indirect || returns_indirectly) {
            true => {
                if returns_indirectly {
                    whole.add(Extent::of(function.result));
                }
                let whole = whole.rounded();
                (*cx).new_area(whole.size, whole.align)
            }
            false => area,
        };
        let mut flat = Flat::NONE;
        if is_indirect {
            Place::Memory(area).fields(function.parameters().iter().copied(), |to, ty| lower(cx, ty, to));
            flat.add(area.expose_provenance() as u64);
        } else {
            for ty in function.parameters() {
                lower(cx, *ty, &mut Place::Flat(&mut flat));
            }
        }
        if returns_indirectly {
            let start = offset(area, result_start);
            (*cx).returned = start;
            flat.add(start.expose_provenance() as u64);
        }
        (*cx).flat = flat;
        (*cx).flat.values.as_ptr()
    }
}

/// Called by the binding when a plain function has returned, with what the core function returned.
#[unsafe(no_mangle)]
unsafe extern "C" fn agent_spaces_lift(which: usize, cx: *mut Context, mut value: u64) {
    let function = &binding().imports()[which];
    // SAFETY: the binding passes the context of the call, and the host has stored the result in its area.
    unsafe {
        match (*cx).returned.is_null() {
            false => lift_result(function, cx),
            // At most one value: it is what lies first in memory.
            true => lift(cx, function.result, (&raw mut value).cast()),
        }
    }
}

/// Pushes what a function has returned into the area of its call.
///
/// # Safety
/// `cx` is the context of the call, and the host has stored the result.
pub(crate) unsafe fn lift_result(function: &ImportFunction, cx: *mut Context) {
    // SAFETY: the caller says so.
    unsafe { lift(cx, function.result, (*cx).returned) }
}
