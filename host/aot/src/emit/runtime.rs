//! Functions that all compiled functions call.

use super::assembler::Assembler;
use crate::unit::Shared;
use crate::value::tag;
use wasm_encoder::ValType::{I32, I64};
use wasm_encoder::{Function, Instruction};

/// Returns the functions in the order of their indices in [`Shared`].
pub(crate) fn functions(shared: &mut Shared<'_>) -> Vec<(u32, Function)> {
    let (duplicated, released) = (shared.type_of(&[I64], &[I64]), shared.type_of(&[I64], &[]));
    vec![(duplicated, duplicate(shared)), (released, release(shared))]
}

pub(crate) fn call_helper(code: &mut Assembler, shared: &mut Shared<'_>, helper: crate::unit::Helper) {
    let type_index = shared.type_of(helper.parameters, helper.results);
    code.address(helper.slot).plain(Instruction::CallIndirect { type_index, table_index: 0 });
}

fn duplicate(shared: &Shared<'_>) -> Function {
    let mut code = Assembler::new(1);
    let count = shared.layout.reference_count as i32;
    code.get(0).tag().i32(tag::FIRST_COUNTED).ge_u().begin_if();
    code.get(0).wrap().i32(count).sub().get(0).wrap().i32(count).sub().load32(0).i32(1).add().store32(0);
    code.end().get(0);
    code.finish()
}

fn release(shared: &mut Shared<'_>) -> Function {
    let mut code = Assembler::new(1);
    let layout = shared.layout;
    let (count, left) = (layout.reference_count as i32, code.local(I32));
    code.get(0).tag().i32(tag::FIRST_COUNTED).ge_u().begin_if();
    code.get(0).wrap().i32(count).sub().get(0).wrap().i32(count).sub().load32(0).i32(1).sub().tee(left).store32(0);
    code.get(left).i32(0).le_s().begin_if().get(0);
    call_helper(&mut code, shared, layout.free());
    code.end().end();
    code.finish()
}
