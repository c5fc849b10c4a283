//! A compiled script as a WASI command: its value goes to stdout, its error to stderr.
#![no_std]

extern crate alloc;

mod bindings {
    #![allow(missing_docs, reason = "generated")]
    wit_bindgen::generate!({
        path: ["../../../wit/engine.wit", "../wit"],
        world: "agent-spaces:wasi/command",
        with: { "agent-spaces:engine/types@0.1.0": rt::types },
        generate_all,
    });
    export!(Command with_types_in self);
    use super::Command;
}
use bindings::agent_spaces::engine::program;
use bindings::exports::wasi::cli0_3_0::run::Guest;

struct Command;

impl Guest for Command {
    async fn run() -> Result<(), ()> {
        match program::run().await {
            // A script without a value has nothing to print.
            Ok(value) if value == "null" => Ok(()),
            Ok(mut value) => {
                value.push('\n');
                rt::print(&value).map_err(|_| rt::say("error: the script's value could not be written to stdout\n"))
            }
            Err(error) => {
                rt::say(&rt::describe(&error));
                Err(())
            }
        }
    }
}
