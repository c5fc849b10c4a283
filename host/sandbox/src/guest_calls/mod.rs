//! Calls that the guest makes of imported functions: lifts component values to a call, and lowers its answer.
//!
//! - here: calls that the engine makes; `durable`: those of durable runs
//! - `invalid_arguments`: calls whose arguments do not match the function's WIT types
//! - `unknown_function`: calls of hidden functions, and of functions that do not exist

mod durable;
mod invalid_arguments;
mod unknown_function;

pub(crate) use invalid_arguments::InvalidArguments;

use crate::imports::{ConvertedAnswer, ImportedFunction, end_event};
use crate::state::{BegunCall, State, note_fuel};
use crate::values::{NotJson, memory_of, to_json};
use agent_spaces_calls::blocking_pool::{MAX_INLINE_BYTES, Permit};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::call_path::Answered;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::host_memory::CallMemory;
use agent_spaces_calls::journal::{AnswerInfo, Delivery, RecordedAnswer, RunJournal};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::json_memory::Meter;
use agent_spaces_types::limits::text_bytes;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
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
            note_fuel(&mut access);
            let lifted = Lifted::new(access.get(), arguments);
            bound_next(&mut access);
            lifted
        })?;
        let params = self.params_of(arguments, &lifted).await;
        let is_inline = lifted.is_inline();
        let Lifted { context, memory, .. } = lifted;
        let permit = if is_inline { None } else { Some(context.blocking_pool.acquire().await) };
        let (begun, max_answer) = accessor.with(|mut access| {
            let begun = self.begin(access.get(), params, &memory, permit)?;
            bound_next(&mut access);
            Ok::<_, wasmtime::Error>((begun, access.get().max_answer()))
        })?;
        let (id, is_recorded) = (begun.call.id, begun.recorded.is_some());
        let turn = || accessor.with(|mut access| access.get().answers().enqueue(Delivery::Call(id)));
        // Limits and events count an answer when it is delivered, so that they depend on the order of deliveries only.
        let answer = if is_recorded {
            // All recorded answers are known at once. Each takes memory only when its turn comes.
            turn().await;
            let executed = self.executed(begun, false, &context).await;
            self.converted(executed, max_answer, &memory, &context).await
        } else {
            let executed = self.executed(begun, false, &context).await;
            // A durable run gets its answers in the order in which they were recorded, just now, however long it takes
            // to convert them.
            let recorded = context.journal.is_some().then(turn);
            let answer = self.converted(executed, max_answer, &memory, &context).await;
            match recorded {
                Some(turn) => turn.await,
                None => turn().await,
            }
            answer
        };
        accessor.with(|mut access| {
            if let Some(journal) = access.get().journal() {
                journal.script_runs();
            }
            self.end(access.get(), id, answer, &memory, results)?;
            bound_next(&mut access);
            Ok(())
        })
    }

    /// Answers a call of a sync function: the script is blocked meanwhile.
    pub(crate) async fn answer_sync(
        self: &Arc<ImportedFunction>,
        mut store: StoreContextMut<'_, State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        note_fuel(&mut store);
        let lifted = Lifted::new(store.data_mut(), arguments)?;
        let params = self.params_of(arguments, &lifted).await;
        let is_inline = lifted.is_inline();
        let Lifted { context, memory, .. } = lifted;
        let permit = if is_inline { None } else { Some(context.blocking_pool.acquire().await) };
        let begun = self.begin(store.data_mut(), params, &memory, permit)?;
        let max_answer = store.data().max_answer();
        let id = begun.call.id;
        let blocking = context.journal.as_ref().filter(|_| begun.recorded.is_none());
        let blocked = blocking.map_or(Ok(()), |journal| journal.script_blocks());
        blocked.map_err(|diverged| store.data_mut().diverged(diverged))?;
        let executed = self.executed(begun, true, &context).await;
        if let Some(journal) = blocking {
            journal.script_unblocks();
        }
        let answer = self.converted(executed, max_answer, &memory, &context).await;
        self.end(store.data_mut(), id, answer, &memory, results)
    }

    /// Converts the arguments of a call to JSON.
    async fn params_of(&self, arguments: &[Val], lifted: &Lifted) -> LiftedParams {
        let Lifted { context, memory, .. } = lifted;
        let read = || -> LiftedParams {
            let params = memory.metered(|meter| self.params(arguments, meter))?;
            let bytes = text_bytes(&params);
            Ok((params, bytes))
        };
        if lifted.is_inline() { read() } else { context.blocking_pool.in_place(read).await }
    }

    /// Counts a call and emits its event, which is redacted, hashed and logged. Large parameters need a permit for
    /// that.
    fn begin(
        &self,
        state: &mut State,
        params: LiftedParams,
        memory: &Arc<CallMemory>,
        permit: Option<Permit>,
    ) -> Result<BegunAnswer> {
        let (params, bytes) = params.map_err(|error| match error {
            NotJson::Memory(_) => state.out_of_host_memory(),
            broken @ NotJson::Broken(_) => wasmtime::Error::new(broken),
        })?;
        let mut schedule = || state.begin_call((&params, bytes), memory, |id| self.scheduled(id, &params));
        let BegunCall { id, recorded } = match permit {
            Some(permit) => permit.work(schedule),
            None => schedule(),
        }?;
        if state.journal().is_some_and(|journal| journal.is_counted(id)) {
            // It counted before its host died, and so did each retry.
            let repetitions = recorded.as_ref().map_or(0, |recorded| recorded.about.repetitions);
            (0..=repetitions).for_each(|_| self.path.recount(state.context()));
        }
        let number = (state.run_id().clone(), id);
        let call = Call::new(&self.names, number, params, state.scope().clone(), state.context(), memory);
        Ok(BegunAnswer { call, recorded })
    }

    /// Executes a call.
    async fn executed(
        self: &Arc<ImportedFunction>,
        begun: BegunAnswer,
        is_sync: bool,
        context: &Arc<RunContext>,
    ) -> ExecutedCall {
        let started = Instant::now();
        match &context.journal {
            None => ExecutedCall {
                answer: self.path.clone().call(begun.call, context.clone()).await,
                started,
                recorded: None,
            },
            Some(journal) => {
                let (answer, recorded) = self.answer_durably(journal, begun, is_sync, context).await;
                ExecutedCall { answer, started, recorded: Some(recorded) }
            }
        }
    }

    /// Converts the answer of a call.
    async fn converted(
        self: &Arc<ImportedFunction>,
        executed: ExecutedCall,
        max_answer: u64,
        memory: &Arc<CallMemory>,
        context: &Arc<RunContext>,
    ) -> EndedAnswer {
        let ExecutedCall { answer, started, recorded } = executed;
        let answer = match answer {
            Ok(answered) => {
                let ConvertedAnswer { bytes, value, is_cached, outcome } =
                    self.convert(answered, max_answer, memory, context).await;
                // The call was answered, even if the run ends before the answer is delivered.
                outcome.end(value.as_ref().err());
                Ok((bytes, value.map(|value| (value, is_cached))))
            }
            Err(error) => Err(error),
        };
        let (duration, repetitions) = match recorded {
            Some(recorded) => (recorded.duration, recorded.repetitions),
            None => (started.elapsed(), 0),
        };
        EndedAnswer { answer, duration, repetitions }
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
        call_id: u64,
        ended: EndedAnswer,
        memory: &CallMemory,
        results: &mut [Val],
    ) -> Result<()> {
        let EndedAnswer { answer, duration, repetitions } = ended;
        state.context().calls.settle(call_id, repetitions);
        let value = match answer {
            Ok((bytes, value)) => {
                state.receive(bytes)?;
                value
            }
            Err(error) => Err(error),
        };
        let replays = |journal: &Arc<dyn RunJournal>| journal.is_replaying() && journal.forced_end().is_none();
        if memory.is_exhausted() && state.journal().is_some_and(replays) {
            // The answer fitted when it was recorded: its event is not that of a failure.
            return Err(state.out_of_host_memory());
        }
        let event = end_event(call_id, duration, value.as_ref().map(|(_, is_cached)| *is_cached));
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

/// Call that has begun, and its answer if that is recorded.
struct BegunAnswer {
    call: Call,
    recorded: Option<RecordedAnswer>,
}

/// Call that was executed, or answered from the journal.
struct ExecutedCall {
    answer: std::result::Result<Answered, CapabilityError>,
    started: Instant,
    /// Facts that the journal of a durable run has.
    recorded: Option<AnswerInfo>,
}

/// Answer that waits for its delivery.
struct EndedAnswer {
    answer: std::result::Result<AnsweredValue, CapabilityError>,
    duration: Duration,
    /// Retries of a durable run's call, which count from now on.
    repetitions: u64,
}

/// Size of an answer's JSON text; and its component value, which may come from the cache, or the error of an answer
/// that does not match its type.
type AnsweredValue = (u64, std::result::Result<(Option<Val>, bool), CapabilityError>);

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

    /// Returns true if its arguments are read on this thread. Those of a durable run always are: its calls are numbered
    /// in the order in which the script makes them.
    fn is_inline(&self) -> bool {
        self.bytes <= MAX_INLINE_BYTES || self.context.journal.is_some()
    }
}

/// Bounds the arguments of the guest's next call by the host memory that is left.
fn bound_next(access: &mut Access<'_, State>) {
    let max_next_call_bytes = access.get().max_next_call_bytes();
    access.as_context_mut().set_hostcall_fuel(max_next_call_bytes);
}

/// Parameters of a call, and the approximate size of their JSON text.
type LiftedParams = std::result::Result<(Value, u64), NotJson>;
