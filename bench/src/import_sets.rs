//! Cost of linking a new set of imports.

use crate::bench::Bench;
use crate::spaces;
use agent_spaces::{Handlers, Interfaces, Space};
use anyhow::Result;
use std::fmt::Write;
use std::time::Instant;

/// Functions of the largest set, and of the module that it is compared with.
const MOST: usize = 100;
/// Repetitions of arithmetic in each function of that module: about as much code as a binding has for a function.
const STEPS: usize = 200;
/// An agent that is given a new server's hundred tools should not notice.
const MAX_MILLISECONDS: f64 = 40.0;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let engine = spaces::engine()?;
    let mut largest = f64::INFINITY;
    for functions in [1, 10, MOST] {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let space = tools(&engine, functions)?;
            let begun = Instant::now();
            space.prepare("bench.js", "import { tools } from '@capabilities/tools'; 1")?;
            best = best.min(begun.elapsed().as_secs_f64() * 1e3);
        }
        bench.report.add(&format!("new import set of {functions} functions"), best, "ms").at_most(MAX_MILLISECONDS);
        largest = best;
    }
    let plain = compiled(&plain_module())?;
    let row = bench.report.add("the same, beside plain code", largest, "ms");
    drop(row.against(&format!("{MOST} functions of arithmetic in bare wasmtime"), plain));
    Ok(())
}

/// Milliseconds in which wasmtime compiles a module with our settings of its compiler, which are its defaults.
fn compiled(module: &[u8]) -> Result<f64> {
    let engine = wasmtime::Engine::default();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begun = Instant::now();
        wasmtime::Module::new(&engine, module)?;
        best = best.min(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

/// Module with functions of two numbers, in the binary format.
fn plain_module() -> Vec<u8> {
    const I32: u8 = 0x7f;
    // a = (a * b) ^ rotl(a, 7)
    const STEP: [u8; 13] = [0x20, 0, 0x20, 1, 0x6c, 0x20, 0, 0x41, 7, 0x77, 0x73, 0x21, 0];
    let mut body = vec![0];
    for _ in 0..STEPS {
        body.extend(STEP);
    }
    body.extend([0x20, 0, 0x0b]);
    let (mut functions, mut bodies) = (number(MOST), number(MOST));
    functions.extend([0; MOST]);
    for _ in 0..MOST {
        bodies.extend(number(body.len()));
        bodies.extend(&body);
    }
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    for (id, content) in [(1, vec![1, 0x60, 2, I32, I32, 1, I32]), (3, functions), (10, bodies)] {
        module.push(id);
        module.extend(number(content.len()));
        module.extend(content);
    }
    module
}

/// A number as the binary format has it: seven bits to a byte, the lowest first.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}

/// Space with one interface of this many functions, not compiled yet.
fn tools(engine: &agent_spaces::Engine, functions: usize) -> Result<Space> {
    let mut wit = String::from(
        "package capabilities:tools@1.0.0; interface tools { use agent-spaces:host/types@0.1.0.{capability-error, json};\n",
    );
    let mut handlers = Handlers::new();
    for i in 0..functions {
        let _ = writeln!(
            wit,
            "record params{i} {{ name: string, count: option<s64>, tags: list<string>, extra: option<json> }}
             record answer{i} {{ id: string, score: f64, labels: list<string> }}
             call{i}: async func(params: params{i}) -> result<list<answer{i}>, capability-error>;"
        );
        handlers.add("capabilities:tools/tools@1.0.0", format!("call{i}"), |_| async { Ok(serde_json::json!([])) });
    }
    wit.push('}');
    let mut interfaces = Interfaces::new()?;
    interfaces.add("tools.wit", &wit)?;
    Ok(Space::builder(engine).interfaces(interfaces, handlers).build()?)
}

#[cfg(test)]
mod tests {
    use super::{number, plain_module};

    #[test]
    fn plain_module_is_valid() {
        assert_eq!(number(624_485), [0xe5, 0x8e, 0x26]);
        wasmtime::Module::validate(&wasmtime::Engine::default(), &plain_module()).unwrap();
    }
}
