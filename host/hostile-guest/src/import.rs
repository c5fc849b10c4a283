//! Imported function of the hostile guest, with its core types.

use wasm_encoder::ValType;
use wit_parser::abi::{WasmSignature, WasmType};

/// Imported function.
pub(super) struct Import {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) params: Vec<ValType>,
    pub(super) results: Vec<ValType>,
}

impl Import {
    pub(super) fn new(module: String, name: String, signature: &WasmSignature) -> Import {
        Import { module, name, params: types(&signature.params), results: types(&signature.results) }
    }
}

/// Core types of a signature.
pub(super) fn types(types: &[WasmType]) -> Vec<ValType> {
    let core = |ty: &WasmType| match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    };
    types.iter().map(core).collect()
}
