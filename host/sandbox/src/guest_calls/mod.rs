//! Calls that the guest makes of imported functions: lifts component values to a call, and lowers its answer.
//!
//! - here: calls that the engine makes
//! - `invalid_arguments`: calls whose arguments do not match the function's WIT types
//! - `unknown_function`: calls of hidden functions, and of functions that do not exist

mod invalid_arguments;
mod unknown_function;

pub(crate) use invalid_arguments::InvalidArguments;

use crate::imports::{ConvertedAnswer, ImportedFunction, ended};
use crate::state::State;
use crate::values::{NotJson, memory_of, to_json};
use agent_spaces_calls::blocking_pool::{MAX_INLINE_BYTES, Permit};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::host_memory::CallMemory;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::json_memory::Meter;
use agent_spaces_types::limits::text_bytes;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::{Access, Accessor, Val};
use wasmtime::{AsContextMut, Result, StoreContextMut};

impl ImportedFunction {
    /// Answers a call of an `async func`: the script continues meanwhile.
    pub(crate) async fn answer_async(
        self: &Arc<ImportedFunction>,
        accessor: &Accessor<State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        // The arguments are already allocated: count them before waiting, and bound the next call.
        let lifted = accessor.with(|mut access| {
            let lifted = Lifted::new(access.get(), arguments);
            bound_next(&mut access);
            lifted
        })?;
        let params = self.params_of(arguments, &lifted).await;
        let Lifted { context, memory, bytes } = lifted;
        let permit = if bytes > MAX_INLINE_BYTES { Some(context.blocking_pool.acquire().await) } else { None };
        let (call, max_answer) = accessor.with(|mut access| {
            let call = self.begin(access.get(), params, &memory, permit)?;
            bound_next(&mut access);
            Ok::<_, wasmtime::Error>((call, access.get().max_answer()))
        })?;
        let (id, begun) = (call.id, Instant::now());
        let answer = self.answered(call, max_answer, &memory, &context).await;
        let delivery = accessor.with(|mut access| {
            self.end(access.get(), (id, begun), answer, &memory, results)?;
            bound_next(&mut access);
            Ok::<_, wasmtime::Error>(access.get().answers().enqueue())
        })?;
        delivery.await;
        Ok(())
    }

    /// Answers a call of a sync function: the script is blocked meanwhile.
    pub(crate) async fn answer_sync(
        self: &Arc<ImportedFunction>,
        mut store: StoreContextMut<'_, State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let lifted = Lifted::new(store.data_mut(), arguments)?;
        let params = self.params_of(arguments, &lifted).await;
        let Lifted { context, memory, bytes } = lifted;
        let permit = if bytes > MAX_INLINE_BYTES { Some(context.blocking_pool.acquire().await) } else { None };
        let call = self.begin(store.data_mut(), params, &memory, permit)?;
        let max_answer = store.data().max_answer();
        let (id, begun) = (call.id, Instant::now());
        let answer = self.answered(call, max_answer, &memory, &context).await;
        self.end(store.data_mut(), (id, begun), answer, &memory, results)
    }

    /// Converts the arguments of a call to JSON.
    async fn params_of(&self, arguments: &[Val], lifted: &Lifted) -> LiftedParams {
        let Lifted { context, memory, bytes } = lifted;
        let read = || -> LiftedParams {
            let params = memory.metered(|meter| self.params(arguments, meter))?;
            let bytes = text_bytes(&params);
            Ok((params, bytes))
        };
        if *bytes > MAX_INLINE_BYTES { context.blocking_pool.in_place(read).await } else { read() }
    }

    /// Counts a call and emits its event, which is redacted, hashed and logged. Large parameters need a permit for
    /// that.
    fn begin(
        &self,
        state: &mut State,
        params: LiftedParams,
        memory: &Arc<CallMemory>,
        permit: Option<Permit>,
    ) -> Result<Call> {
        let (params, bytes) = params.map_err(|error| match error {
            NotJson::Memory(_) => state.out_of_host_memory(),
            broken @ NotJson::Broken(_) => wasmtime::Error::new(broken),
        })?;
        let mut schedule = || state.begin_call((&params, bytes), memory, |id| self.scheduled(id, &params));
        let id = match permit {
            Some(permit) => permit.work(schedule),
            None => schedule(),
        }?;
        let number = (state.run_id().clone(), id);
        Ok(Call::new(&self.names, number, params, state.scope().clone(), state.context(), memory))
    }

    /// Executes a call and converts its answer.
    async fn answered(
        self: &Arc<ImportedFunction>,
        call: Call,
        max_answer: u64,
        memory: &Arc<CallMemory>,
        context: &Arc<RunContext>,
    ) -> std::result::Result<ConvertedAnswer, CapabilityError> {
        let answered = self.path.clone().call(call, context.clone()).await?;
        Ok(self.convert(answered, max_answer, memory, context).await)
    }

    /// Returns the members of the single record parameter, or all parameters by name.
    fn params(&self, arguments: &[Val], meter: &mut Meter<'_>) -> std::result::Result<Value, NotJson> {
        match (arguments, self.shape.parameters.as_slice()) {
            ([argument], [parameter]) if self.takes_params() => to_json(argument, &parameter.shape, meter),
            _ => {
                let mut params = Map::new();
                for (argument, parameter) in arguments.iter().zip(&self.shape.parameters) {
                    params.insert(parameter.name.json.clone(), to_json(argument, &parameter.shape, meter)?);
                }
                Ok(Value::Object(params))
            }
        }
    }

    fn end(
        &self,
        state: &mut State,
        (call_id, begun): (u64, Instant),
        answer: std::result::Result<ConvertedAnswer, CapabilityError>,
        memory: &CallMemory,
        results: &mut [Val],
    ) -> Result<()> {
        let value = match answer {
            Ok(converted) => {
                let received = state.receive(converted.bytes);
                // The call was answered even if the run ends here.
                converted.outcome.end(converted.value.as_ref().err());
                received?;
                converted.value.map(|value| (value, converted.is_cached))
            }
            Err(error) => Err(error),
        };
        let event = ended(call_id, begun, value.as_ref().map(|(_, is_cached)| *is_cached));
        state.end_call(value.is_ok(), event)?;
        if memory.is_exhausted() {
            return Err(state.out_of_host_memory());
        }
        let value = match value {
            Ok((value, _)) => value,
            Err(error) => Some(self.error(&error).ok_or_else(|| {
                let message = format!("{}.{} failed: {error}", self.names.interface, self.names.function);
                state.fail_without_error_type(message)
            })?),
        };
        if let (Some(slot), Some(value)) = (results.first_mut(), value) {
            *slot = value;
        }
        Ok(())
    }
}

/// Call whose arguments wasmtime has lifted.
struct Lifted {
    context: Arc<RunContext>,
    memory: Arc<CallMemory>,
    /// Host memory of its arguments, already reserved.
    bytes: u64,
}

impl Lifted {
    fn new(state: &mut State, arguments: &[Val]) -> Result<Lifted> {
        let context = state.context().clone();
        let (memory, bytes) = (context.memory.share(), memory_of(arguments));
        memory.take(bytes).map_err(|_| state.out_of_host_memory())?;
        Ok(Lifted { context, memory, bytes })
    }
}

/// Bounds the arguments of the guest's next call by the host memory that is left.
fn bound_next(access: &mut Access<'_, State>) {
    let max_next_call_bytes = access.get().max_next_call_bytes();
    access.as_context_mut().set_hostcall_fuel(max_next_call_bytes);
}

/// Parameters of a call, and the approximate size of their JSON text.
type LiftedParams = std::result::Result<(Value, u64), NotJson>;
