//! Sizes of types in memory, and how many values they are outside of it, as the canonical ABI has them.

use super::metadata::{Kind, Type};
use crate::engine::binding;

/// Size and alignment in memory.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) size: usize,
    pub(super) align: usize,
}

impl Extent {
    const fn scalar(size: usize) -> Extent {
        Extent { size, align: size }
    }

    const POINTER_AND_LENGTH: Extent = Extent { size: 8, align: 4 };

    /// What has no fields yet.
    pub(super) const NOTHING: Extent = Extent { size: 0, align: 1 };

    pub(super) fn of(ty: Type) -> Extent {
        match binding().kind(ty) {
            Kind::U8 | Kind::S8 | Kind::Bool => Extent::scalar(1),
            Kind::U16 | Kind::S16 => Extent::scalar(2),
            Kind::U32 | Kind::S32 | Kind::F32 | Kind::Char => Extent::scalar(4),
            Kind::U64 | Kind::S64 | Kind::F64 => Extent::scalar(8),
            Kind::String | Kind::Json | Kind::List(_) => Extent::POINTER_AND_LENGTH,
            Kind::Record(index) => Extent::of_fields(binding().record(index).iter().map(|field| field.ty)),
            Kind::Tuple(index) => Extent::of_fields(binding().tuple(index).iter().copied()),
            Kind::Flags(index) => Extent::scalar(flags_bytes(index)),
            Kind::Enum(index) => Extent::scalar(case_bytes(binding().enum_names(index).len())),
            Kind::Variant(index) => {
                let cases = binding().variant(index);
                Extent::of_cases(case_bytes(cases.len()), cases.iter().map(|case| case.ty))
            }
            Kind::Option(index) => Extent::of_cases(1, [binding().option(index)].into_iter()),
            Kind::Result(index) => {
                let (ok, err) = binding().result(index);
                Extent::of_cases(1, [ok, err].into_iter())
            }
            Kind::Empty => Extent::NOTHING,
            Kind::Unsupported => core::arch::wasm32::unreachable(),
        }
    }

    pub(super) fn of_fields(types: impl Iterator<Item = Type>) -> Extent {
        let mut whole = Extent::NOTHING;
        for ty in types {
            whole.add(Extent::of(ty));
        }
        whole.rounded()
    }

    fn of_cases(case_bytes: usize, payloads: impl Iterator<Item = Type> + Clone) -> Extent {
        let payload = payload_extent(payloads);
        let size = case_bytes.next_multiple_of(payload.align) + payload.size;
        Extent { size, align: payload.align.max(case_bytes) }.rounded()
    }

    /// Adds a field at the end; returns where it begins.
    pub(super) fn add(&mut self, field: Extent) -> usize {
        let start = self.size.next_multiple_of(field.align);
        self.size = start + field.size;
        self.align = self.align.max(field.align);
        start
    }

    pub(super) fn rounded(self) -> Extent {
        Extent { size: self.size.next_multiple_of(self.align), ..self }
    }
}

/// The extent of whichever payload there is.
fn payload_extent(payloads: impl Iterator<Item = Type>) -> Extent {
    payloads.map(Extent::of).fold(Extent::NOTHING, |most, payload| Extent {
        size: most.size.max(payload.size),
        align: most.align.max(payload.align),
    })
}

/// The largest alignment that there is.
const MAX_ALIGN: usize = 8;

/// The alignment of a type, without its size.
pub(super) fn align(ty: Type) -> usize {
    match binding().kind(ty) {
        Kind::U8 | Kind::S8 | Kind::Bool | Kind::Empty => 1,
        Kind::String | Kind::Json | Kind::List(_) => Extent::POINTER_AND_LENGTH.align,
        Kind::U64 | Kind::S64 | Kind::F64 => MAX_ALIGN,
        Kind::Record(index) => max_align(1, binding().record(index).iter().map(|field| field.ty)),
        Kind::Tuple(index) => max_align(1, binding().tuple(index).iter().copied()),
        Kind::Variant(index) => {
            let cases = binding().variant(index);
            max_align(case_bytes(cases.len()), cases.iter().map(|case| case.ty))
        }
        Kind::Option(index) => align(binding().option(index)),
        Kind::Result(index) => {
            let (ok, err) = binding().result(index);
            max_align(1, [ok, err].into_iter())
        }
        _ => Extent::of(ty).align,
    }
}

/// The largest alignment of several types, and at least `least`.
pub(super) fn max_align(least: usize, types: impl Iterator<Item = Type>) -> usize {
    let mut most = least;
    for ty in types {
        if most == MAX_ALIGN {
            break;
        }
        most = most.max(align(ty));
    }
    most
}

/// How many bytes tell cases apart.
pub(super) fn case_bytes(cases: usize) -> usize {
    match cases {
        ..=0x100 => 1,
        ..=0x1_0000 => 2,
        _ => 4,
    }
}

pub(super) fn flags_bytes(index: usize) -> usize {
    match binding().flag_names(index).len() {
        ..=8 => 1,
        ..=16 => 2,
        _ => 4,
    }
}

/// How many values a type has that are passed as such.
pub(super) fn flat_count(ty: Type) -> usize {
    let most = |types: &[Type]| types.iter().map(|ty| flat_count(*ty)).max().unwrap_or(0);
    match binding().kind(ty) {
        Kind::Empty => 0,
        Kind::String | Kind::Json | Kind::List(_) => 2,
        Kind::Record(index) => binding().record(index).iter().map(|field| flat_count(field.ty)).sum(),
        Kind::Tuple(index) => binding().tuple(index).iter().map(|ty| flat_count(*ty)).sum(),
        Kind::Variant(index) => 1 + binding().variant(index).iter().map(|case| flat_count(case.ty)).max().unwrap_or(0),
        Kind::Option(index) => 1 + most(&[binding().option(index)]),
        Kind::Result(index) => {
            let (ok, err) = binding().result(index);
            1 + most(&[ok, err])
        }
        _ => 1,
    }
}

/// Whether types are more values than `most`. A record of many fields is not looked at.
pub(super) fn are_more_than(most: usize, types: &[Type]) -> bool {
    let mut count = 0;
    for ty in types {
        count += match binding().kind(*ty) {
            // Every field is a value at least.
            Kind::Record(index) if binding().record(index).len() > most => return true,
            _ => flat_count(*ty),
        };
    }
    count > most
}
