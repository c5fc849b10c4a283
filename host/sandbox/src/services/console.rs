//! Host side of the `console` interface.

use crate::state::State;
use agent_spaces_types::event::ConsoleLevel;
use wasmtime::component::{ComponentType, Lift, Linker};
use wasmtime::{Result, StoreContextMut};

#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[allow(dead_code, reason = "made by the guest")]
enum Level {
    #[component(name = "log")]
    Log,
    #[component(name = "info")]
    Info,
    #[component(name = "warn")]
    Warn,
    #[component(name = "error")]
    Error,
    #[component(name = "debug")]
    Debug,
}

impl From<Level> for ConsoleLevel {
    fn from(level: Level) -> ConsoleLevel {
        match level {
            Level::Log => ConsoleLevel::Log,
            Level::Info => ConsoleLevel::Info,
            Level::Warn => ConsoleLevel::Warn,
            Level::Error => ConsoleLevel::Error,
            Level::Debug => ConsoleLevel::Debug,
        }
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/console@0.1.0")?.func_wrap(
        "write",
        |mut store: StoreContextMut<'_, State>, (level, text): (Level, String)| {
            store.data_mut().print(level.into(), text)?;
            Ok(())
        },
    )
}
