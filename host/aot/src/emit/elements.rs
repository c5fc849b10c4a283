//! Elements of arrays: of ordinary ones here, of typed arrays by the engine.

use super::Emitter;
use super::state::Value;
use crate::value::{Kinds, tag};

impl Emitter<'_, '_> {
    /// Loads the address of an array's element, or goes on behind `other`.
    fn load_element(&mut self, object: Value, index: Value, other: super::assembler::Label) {
        let layout = *self.shared.layout;
        let address = self.i32_local();
        self.load(object);
        self.code.tag().i32(tag::OBJECT as u32 as i32).sub().br_if(other);
        if !self.state.kinds(index).is_int() {
            self.load(index);
            self.code.tag().br_if(other);
        }
        self.load(object);
        self.code.wrap().tee(address).load16(layout.object_class).address(layout.class_array).sub().br_if(other);
        self.load_int(index);
        self.code.get(address).load32(layout.array_count).ge_u().br_if(other);
        self.code.get(address).load32(layout.array_values);
        self.load_int(index);
        self.code.i32(3).shl().add();
    }

    pub(super) fn get_element(&mut self, keeps_object: bool) -> Option<()> {
        let stack = self.state.stack.clone();
        let (index, object) = (self.state.pop()?, self.state.pop()?);
        if !keeps_object {
            self.leave_unless_droppable(object, &stack);
        }
        let result = self.i64_local();
        let (done, other) = (self.code.label(), self.code.label());
        self.code.block(done);
        if self.state.kinds(index).may_be(Kinds::INT) {
            self.code.block(other);
            self.load_element(object, index, other);
            self.code.load64(0).call(self.shared.duplicate()).set(result).br(done).end();
        }
        self.load(object);
        self.load(index);
        self.helper(self.shared.layout.get_element());
        self.leave_if_undone(result, &stack);
        self.code.end();
        // An index that is no integer was left to the interpreter: there is no reference to give back.
        if keeps_object {
            self.push(object);
        } else {
            self.release(object);
        }
        self.push(Value::Boxed { local: result, kinds: Kinds::ANY, is_owned: true });
        Some(())
    }

    pub(super) fn put_element(&mut self) -> Option<()> {
        let stack = self.state.stack.clone();
        let (value, index, object) = (self.state.pop()?, self.state.pop()?, self.state.pop()?);
        self.leave_unless_droppable(object, &stack);
        let (address, old) = (self.i32_local(), self.i64_local());
        let (done, other) = (self.code.label(), self.code.label());
        self.code.block(done);
        if self.state.kinds(index).may_be(Kinds::INT) {
            self.code.block(other);
            self.load_element(object, index, other);
            self.code.tee(address).load64(0).set(old);
            let old_value = Value::Boxed { local: old, kinds: Kinds::ANY, is_owned: false };
            self.load_is_last(old_value);
            self.leave_if(&stack);
            // An array in itself may lose two references. The interpreter looks at the address alone.
            self.code.get(old).wrap();
            self.load(object);
            self.code.wrap().eq();
            self.leave_if(&stack);
            self.code.get(address);
            self.take(value);
            self.code.store64(0).get(old).call(self.shared.release()).br(done).end();
        }
        self.load(object);
        self.load(index);
        self.load(value);
        self.helper(self.shared.layout.put_element());
        self.code.eqz();
        self.leave_if(&stack);
        // The engine has taken a reference of its own.
        self.release(value);
        self.code.end();
        self.release(object);
        Some(())
    }

    /// The length of an array, which is its first property.
    pub(super) fn get_length(&mut self) -> Option<()> {
        let stack = self.state.stack.clone();
        let object = self.state.pop()?;
        self.leave_unless_droppable(object, &stack);
        let (layout, address, length) = (*self.shared.layout, self.i32_local(), self.i64_local());
        self.load(object);
        self.code.tag().i32(tag::OBJECT as u32 as i32).sub();
        self.leave_if(&stack);
        self.load(object);
        self.code.wrap().tee(address).load16(layout.object_class).address(layout.class_array).sub();
        self.leave_if(&stack);
        self.code.get(address).load32(layout.object_properties).load64(0).tee(length).tag();
        self.leave_if(&stack);
        self.release(object);
        self.code.get(length).wrap();
        self.push_loaded_int();
        Some(())
    }
}
