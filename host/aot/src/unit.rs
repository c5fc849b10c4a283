//! The compiled functions of one engine memory, as parts of a module.

use crate::layout::Layout;
use std::collections::HashMap;
use wasm_encoder::ValType::{I32, I64};
use wasm_encoder::{Function, ValType};

/// Indices in a module to which compiled functions are added. Its memory and table are those of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Bases {
    /// Types that it has.
    pub types: u32,
    /// Functions that it has, imported ones included.
    pub functions: u32,
    /// The engine's stack pointer.
    pub stack_pointer: u32,
    /// The engine's global with the fuel that is left.
    pub left: u32,
}

/// Parameters and results of a function.
pub type Signature = (Vec<ValType>, Vec<ValType>);

/// Types and functions to add to a module behind those that it has.
#[derive(Default)]
pub struct Unit {
    /// Types, from `Bases::types` on.
    pub types: Vec<Signature>,
    /// Functions with their types, from `Bases::functions` on.
    pub functions: Vec<(u32, Function)>,
    /// Functions for the engine's table.
    pub entries: Vec<Entry>,
}

/// A function that the engine calls instead of interpreting bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The address of the word of the engine's memory that gets the function's index in the table.
    pub word: u32,
    /// The function's index in the module.
    pub function: u32,
}

/// A function of the engine, by its place in the table.
#[derive(Clone, Copy)]
pub(crate) struct Helper {
    pub(crate) slot: u32,
    pub(crate) parameters: &'static [ValType],
    pub(crate) results: &'static [ValType],
}

macro_rules! helpers {
    ($($name:ident($($parameter:ident),*) $(-> $result:ident)?,)*) => {
        impl Layout {
            $(pub(crate) fn $name(self) -> Helper {
                Helper { slot: self.$name, parameters: &[$($parameter),*], results: &[$($result)?] }
            })*
        }
    };
}

helpers! {
    more(), too_deep(), exit(I32) -> I64, call(I64, I64, I32, I32) -> I64, free(I64), arith(I64, I64, I32) -> I64,
    logic(I64, I64, I32) -> I64, compare(I64, I64, I32) -> I64, get_element(I64, I64) -> I64,
    put_element(I64, I64, I64) -> I32,
}

/// A function that is compiled, for those that call it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Its index in the module: it takes the function object, `this` if it uses it, and the arguments, and charges its call.
    pub(crate) function: u32,
    pub(crate) address: u32,
    pub(crate) args: u16,
    pub(crate) uses_this: bool,
    /// Cost of a call.
    pub(crate) cost: u32,
}

/// Types and helpers that the functions of a unit share.
pub(crate) struct Shared<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) bases: Bases,
    pub(crate) types: Vec<Signature>,
    type_numbers: HashMap<Signature, u32>,
    pub(crate) targets: HashMap<u32, Target>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(layout: &'a Layout, bases: Bases) -> Shared<'a> {
        Shared { layout, bases, types: Vec::new(), type_numbers: HashMap::new(), targets: HashMap::new() }
    }

    pub(crate) fn type_of(&mut self, parameters: &[ValType], results: &[ValType]) -> u32 {
        let signature = (parameters.to_vec(), results.to_vec());
        let (types, bases) = (&mut self.types, self.bases);
        *self.type_numbers.entry(signature).or_insert_with_key(|signature| {
            types.push(signature.clone());
            bases.types + types.len() as u32 - 1
        })
    }

    /// Adds one to the count of a boxed value, if it has one, and returns it.
    pub(crate) fn duplicate(&self) -> u32 {
        self.bases.functions
    }

    /// Takes one from the count of a boxed value, if it has one.
    pub(crate) fn release(&self) -> u32 {
        self.bases.functions + 1
    }

    /// Functions before those of scripts.
    pub(crate) const COMMON: u32 = 2;
}
