//! Makes few data segments of the snapshot's many.
//!
//! An instance begins with a note of every segment of its module. A snapshot has ten thousand, one for each run of
//! bytes that are not zero: more to write down than the rest of an instance.

use anyhow::{Result, ensure};
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ConstExpr, DataSection, Module};
use wasmparser::{DataKind, DataSectionReader, Operator, Parser, Payload};

/// Segments with no more zeros than this between them become one. Larger gaps stay: the stack, and the room for a
/// binding's data.
const GAP_BYTES: usize = 4096;

/// The module with the same memory in as few segments as that.
pub(crate) fn merge(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut segments = Segments(Vec::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::DataSection(section) => segments.read(section)?,
            Payload::CodeSectionEntry(body) => {
                for operator in body.get_operators_reader()? {
                    let is_by_index = matches!(operator?, Operator::MemoryInit { .. } | Operator::DataDrop { .. });
                    ensure!(!is_by_index, "the engine names a data segment by its index, which is not kept");
                }
            }
            _ => {}
        }
    }
    let mut module = Module::new();
    segments.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// What memory begins with: addresses and bytes, ascending, with gaps between them.
struct Segments(Vec<(usize, Vec<u8>)>);

impl Segments {
    fn read(&mut self, section: DataSectionReader<'_>) -> Result<()> {
        let mut pieces = Vec::new();
        for segment in section {
            let segment = segment?;
            match segment.kind {
                // What the set-up wrote is in the snapshot's own segments.
                DataKind::Passive => ensure!(segment.data.is_empty(), "the engine has a segment that nobody places"),
                DataKind::Active { memory_index, offset_expr } => {
                    let address = match offset_expr.get_operators_reader().read()? {
                        Operator::I32Const { value } if memory_index == 0 => value as u32 as usize,
                        other => anyhow::bail!("a data segment begins at {other:?} of memory {memory_index}"),
                    };
                    pieces.push((address, segment.data));
                }
            }
        }
        // Where they overlap, the later one counts: they are written in their order.
        let end = pieces.iter().map(|(address, data)| address + data.len()).max().unwrap_or(0);
        let mut image = vec![0; end];
        for (address, data) in &pieces {
            image[*address..address + data.len()].copy_from_slice(data);
        }
        pieces.sort_unstable();
        let mut spans: Vec<std::ops::Range<usize>> = Vec::new();
        for (address, data) in pieces {
            let end = address + data.len();
            match spans.last_mut() {
                Some(last) if address <= last.end + GAP_BYTES => last.end = last.end.max(end),
                _ => spans.push(address..end),
            }
        }
        self.0 = spans.into_iter().map(|span| (span.start, image[span].to_vec())).collect();
        Ok(())
    }
}

impl Reencode for Segments {
    type Error = Infallible;

    fn data_count(&mut self, _count: u32) -> Result<u32, Error> {
        Ok(self.0.len() as u32)
    }

    fn parse_data_section(&mut self, data: &mut DataSection, _section: DataSectionReader<'_>) -> Result<(), Error> {
        for (address, bytes) in &self.0 {
            data.active(0, &ConstExpr::i32_const(*address as i32), bytes.iter().copied());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use wasmparser::{Parser, Payload};
    use wasmtime::{Engine, Instance, Module, Store};

    fn memory(wasm: &[u8]) -> Vec<u8> {
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &Module::new(&engine, wasm).unwrap(), &[]).unwrap();
        instance.get_memory(&mut store, "memory").unwrap().data(&store).to_vec()
    }

    fn segments(wasm: &[u8]) -> u32 {
        let count = Parser::new(0).parse_all(wasm).find_map(|payload| match payload.unwrap() {
            Payload::DataSection(section) => Some(section.count()),
            _ => None,
        });
        count.unwrap()
    }

    #[test]
    fn memory_is_as_it_was_in_fewer_pieces() {
        let text = r#"(module (memory (export "memory") 2)
            (data (i32.const 70000) "far") (data (i32.const 20) "second") (data (i32.const 10) "first")
            (data (i32.const 12) "over") (data "") (data (i32.const 131071) "z") (data (i32.const 70010) "er"))"#;
        let many = wat::parse_str(text).unwrap();
        let few = merge(&many).unwrap();
        assert_eq!((segments(&many), segments(&few)), (7, 3));
        assert!(memory(&few) == memory(&many));
        assert_eq!(&memory(&few)[10..26], b"fiover\0\0\0\0second");
    }

    #[test]
    fn segments_that_code_names_are_not_merged() {
        for code in ["(memory.init 0 (i32.const 0) (i32.const 0) (i32.const 1))", "(data.drop 0)"] {
            let text = format!("(module (memory 1) (data \"a\") (func {code}))");
            let error = merge(&wat::parse_str(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains("names a data segment"), "{error}");
        }
    }
}
