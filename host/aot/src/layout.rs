//! Layout of the engine's structures, for compiled functions: `js_compiled_layout` in its memory.

use crate::memory::Memory;

macro_rules! layout {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The engine's answer: addresses, offsets of fields, and table indices of functions, in the order of
        /// `js_compiled_init` in the engine's patch.
        #[derive(Clone, Copy, Debug)]
        #[expect(dead_code, reason = "the order of the words is an agreement with the engine")]
        pub(crate) struct Layout { $($(#[$doc])* pub(crate) $name: u32,)* }

        impl Layout {
            fn words(mut next: impl FnMut() -> Option<u32>) -> Option<Layout> {
                Some(Layout { $($name: next()?,)* })
            }
        }
    };
}

layout! {
    version,
    // Costs: of a step, and of a variable of a call.
    step, variable,
    // Room that a call takes, and each of its values.
    room_of_call, room_of_value,
    // Addresses.
    context, room, current_frame, stack_limit, objects,
    // Headers of objects, before them.
    reference_count, object_type, type_of_functions,
    // JSStackFrame
    frame_size, frame_previous, frame_function, frame_args, frame_vars, frame_refs, frame_pc, frame_ref_count,
    frame_arg_count, frame_is_strict, frame_sp, frame_owner,
    // JSObject
    object_class, class_function, class_array, object_bytecode, object_refs, array_count, array_values, object_properties,
    // JSVarRef
    ref_value,
    // JSFunctionBytecode
    code, code_length, closure, arg_count, var_count, stack_size, ref_count, closure_count, constant_count, realm,
    constants, compiled, closure_size,
    // Functions.
    more, too_deep, exit, call, free, arith, logic, compare, get_element, put_element,
    opcodes,
}

/// The layout that this crate was written for.
const VERSION: u32 = 2;

/// More than any cost, and than the size of any structure that is read: what is calculated with them stays far from overflowing.
const MAX_STRUCTURE_BYTES: u32 = 1024;

impl Layout {
    fn is_plausible(&self) -> bool {
        let sizes = [self.frame_size, self.closure_size, self.compiled, self.code, self.step, self.variable];
        sizes.iter().all(|size| *size <= MAX_STRUCTURE_BYTES) && self.code >= 4
    }

    /// Reads the layout. Returns `None` for an engine of another version, or one that limits its own stack: compiled
    /// functions leave that to the host.
    pub(crate) fn read(memory: Memory<'_>, address: u32) -> Option<Layout> {
        let mut at = address;
        let layout = Layout::words(|| {
            let word = memory.u32(at);
            at = at.checked_add(4)?;
            word
        })?;
        let is_known = layout.version == VERSION && layout.opcodes == crate::opcode::COUNT;
        (is_known && layout.is_plausible() && memory.u32(layout.stack_limit)? == 0).then_some(layout)
    }
}
