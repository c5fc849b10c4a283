//! Functions of a binding that leave the canonical ABI to the engine.
//!
//! `wit-dylib` writes code for every value of every function, and compiling that is most of what a new import set takes. The
//! engine knows the types from the tables that come with the binding, so it does the same for all functions. The code of a
//! function here is a call of the engine for the parameters, the call itself, and for plain functions a call of the engine for
//! the result.

use super::module::{Library, Mapping};
use agent_spaces_sandbox::engine::EngineLayout;
use anyhow::{Result, bail};
use wasm_encoder::reencode::Reencode;
use wasm_encoder::{Function, MemArg, TypeSection, ValType};
use wasmparser::{FuncType, Operator, TypeRef};

/// Functions of the engine: one makes the parameters of a call, one takes its result.
const LOWER: &str = "agent_spaces_lower";
const LIFT: &str = "agent_spaces_lift";

/// Bytes of a parameter in the engine's array of them.
const PARAMETER_BYTES: u64 = 8;

/// Prefix of the imports of asynchronous functions.
const ASYNC: &str = "[async-lower]";

/// The imported functions of a library, whose code is replaced.
pub(super) struct Interpreted {
    functions: Vec<Replaced>,
    /// Slots of [`LOWER`] and [`LIFT`] in the engine's table.
    slots: (u32, u32),
}

/// A function of the library.
enum Replaced {
    /// It calls what is imported. `which` is the imported function's place in the tables.
    Call { which: u32, import: u32, ty: FuncType, is_async: bool },
    /// It lifts the results of the function before it, which the engine does itself.
    Lift,
}

/// Types of [`LOWER`] and [`LIFT`] in the binding.
#[derive(Clone, Copy)]
pub(super) struct EngineTypes {
    lower: u32,
    lift: u32,
}

impl Interpreted {
    /// Finds the functions to replace: `None` if the engine does not interpret, or the library has resources, streams or
    /// futures.
    pub(super) fn find(library: &Library<'_>, layout: &EngineLayout) -> Result<Option<Interpreted>> {
        let (Some(lower), Some(lift)) = (layout.slots.get(LOWER), layout.slots.get(LIFT)) else { return Ok(None) };
        let types = library.function_types();
        let mut functions = Vec::new();
        let imports = library.imports.iter().filter_map(|import| match import.ty {
            TypeRef::Func(ty) => Some((import, ty)),
            _ => None,
        });
        let mut which = 0;
        for (index, (import, ty)) in (0..).zip(imports) {
            // The engine's own, and what exported functions return through.
            if import.module == super::module::ENGINE || import.module.starts_with('[') {
                continue;
            }
            let (name, is_async) = match import.name.strip_prefix(ASYNC) {
                Some(name) => (name, true),
                None => (import.name, false),
            };
            let Some(ty) = types.get(ty as usize).filter(|_| !name.starts_with('[')) else { return Ok(None) };
            let place = functions.len();
            functions.push(Replaced::Call { which, import: index, ty: ty.clone(), is_async });
            functions.extend(is_async.then_some(Replaced::Lift));
            which += 1;
            // They come first, in this order.
            if !library.calls(place, index)? {
                bail!("the library has other code where {} should be called", import.name);
            }
        }
        Ok(Some(Interpreted { functions, slots: (*lower, *lift) }))
    }

    /// Returns how many of the library's functions are replaced: the first ones.
    pub(super) fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns the imported functions that are called.
    pub(super) fn called(&self) -> impl Iterator<Item = u32> {
        self.functions.iter().filter_map(|function| match function {
            Replaced::Call { import, .. } => Some(*import),
            Replaced::Lift => None,
        })
    }

    /// Returns true if there is no code any more for one of the replaced functions.
    pub(super) fn is_gone(&self, place: usize) -> bool {
        matches!(self.functions.get(place), Some(Replaced::Lift))
    }

    /// Returns the code of the functions that have any.
    pub(super) fn code(&self, mapping: &mut Mapping, types: EngineTypes) -> Result<Vec<Function>> {
        let calls = self.functions.iter().filter_map(|function| match function {
            Replaced::Call { which, import, ty, is_async } => {
                Some(self.call(*which, (*import, ty), *is_async, mapping, types))
            }
            Replaced::Lift => None,
        });
        calls.collect()
    }

    fn call(
        &self,
        which: u32,
        (import, ty): (u32, &FuncType),
        is_async: bool,
        mapping: &mut Mapping,
        types: EngineTypes,
    ) -> Result<Function> {
        const CONTEXT: u32 = 0;
        const AREA: u32 = 1;
        let (lower, lift) = self.slots;
        let which = which as i32;
        // The parameters are the context, and the area of an asynchronous function.
        let parameters = 1 + u32::from(is_async);
        let (pointer, value) = (parameters, parameters + 1);
        let mut code = Function::new([(1, ValType::I32), (1, ValType::I64)]);
        let mut sink = code.instructions();
        sink.i32_const(which).local_get(CONTEXT);
        if is_async {
            sink.local_get(AREA)
        } else {
            sink.i32_const(0)
        };
        sink.i32_const(lower as i32).call_indirect(0, types.lower).local_set(pointer);
        for (place, ty) in (0..).zip(ty.params()) {
            let at = MemArg { offset: place * PARAMETER_BYTES, align: 2, memory_index: 0 };
            sink.local_get(pointer);
            match ty {
                wasmparser::ValType::I32 => sink.i32_load(at),
                wasmparser::ValType::I64 => sink.i64_load(at),
                wasmparser::ValType::F32 => sink.f32_load(at),
                wasmparser::ValType::F64 => sink.f64_load(at),
                _ => bail!("an imported function takes {ty}"),
            };
        }
        mapping.note(&mut sink);
        sink.call(mapping.function_index(import)?);
        if !is_async {
            match ty.results() {
                [] => sink.i64_const(0),
                [wasmparser::ValType::I32] => sink.i64_extend_i32_u(),
                [wasmparser::ValType::I64] => &mut sink,
                [wasmparser::ValType::F32] => sink.i32_reinterpret_f32().i64_extend_i32_u(),
                [wasmparser::ValType::F64] => sink.i64_reinterpret_f64(),
                results => bail!("an imported function returns {results:?}"),
            };
            sink.local_set(value).i32_const(which).local_get(CONTEXT).local_get(value);
            sink.i32_const(lift as i32).call_indirect(0, types.lift);
        }
        sink.end();
        Ok(code)
    }
}

impl EngineTypes {
    /// Adds the types to those of the binding.
    pub(super) fn add(types: &mut TypeSection) -> EngineTypes {
        let lower = types.len();
        types.ty().function([ValType::I32; 3], [ValType::I32]);
        types.ty().function([ValType::I32, ValType::I32, ValType::I64], []);
        EngineTypes { lower, lift: lower + 1 }
    }
}

impl Library<'_> {
    /// Returns true if the code of a function calls another.
    fn calls(&self, place: usize, called: u32) -> Result<bool> {
        let Some(body) = self.code.get(place) else { return Ok(false) };
        for operator in body.get_operators_reader()? {
            if matches!(operator?, Operator::Call { function_index } if function_index == called) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
