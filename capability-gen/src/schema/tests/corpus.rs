use super::sample::{Dice, sample};
use crate::definition::Place;
use crate::model::Direction;
use crate::schema::Reader;
use serde_json::Value;
use std::path::PathBuf;

/// The tools of each server in the corpus; `None` without a corpus.
fn servers() -> Option<Vec<(String, Vec<Value>)>> {
    let folder = std::env::var_os("AGENT_SPACES_CORPUS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    let Ok(files) = std::fs::read_dir(folder.join("servers")) else {
        println!("skipped: no corpus of real tool lists in {}", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let list: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let tools = list.get("tools").unwrap_or(&list).as_array().unwrap().clone();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), tools)
    };
    Some(paths.into_iter().map(read).collect())
}

#[test]
fn every_real_tool_is_read_and_its_clean_schema_compiles() {
    let Some(servers) = servers() else { return };
    let (mut tools, mut schemas, mut notes, mut names) = (0, 0, 0, 0);
    for (server, list) in servers {
        let mut reader = Reader::new();
        for tool in list {
            tools += 1;
            let name = tool["name"].as_str().unwrap();
            for (keyword, is_params) in [("inputSchema", true), ("outputSchema", false)] {
                let Some(raw) = tool.get(keyword).filter(|raw| !raw.is_null()) else { continue };
                let place = Place { file: server.clone(), path: format!("$.{name}.{keyword}") };
                let reading =
                    if is_params { reader.params(name, raw, &place) } else { reader.result(name, raw, &place) };
                let reading = reading.unwrap();
                schemas += 1;
                notes += reading.notes.len();
                let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
                if let Err(error) = options.build(&reading.schema) {
                    panic!("{place}: {error}\n{:#}", reading.schema);
                }
            }
        }
        names += reader.finish().0.len();
    }
    println!("{tools} tools, {schemas} schemas, {names} named types, {notes} notes");
    assert!(tools > 3000);
}

/// A clean schema accepts the same values as the source's schema, for values without undeclared members.
#[test]
fn clean_schemas_mean_what_the_real_ones_mean() {
    let Some(servers) = servers() else { return };
    let (mut values, mut good, mut skipped) = (0, 0, 0);
    let mut differences = Vec::new();
    let mut dice = Dice(7);
    for (server, list) in servers {
        for tool in list {
            let name = tool["name"].as_str().unwrap();
            for (keyword, direction) in [("inputSchema", Direction::Params), ("outputSchema", Direction::Result)] {
                let Some(raw) = tool.get(keyword).filter(|raw| !raw.is_null()) else { continue };
                let (reading, types) = super::read(direction, raw).unwrap();
                // Older drafts validate formats; here they are annotations.
                let source = jsonschema::options().should_validate_formats(false).build(raw);
                // Schemas with notes differ on purpose.
                let Some(source) = source.ok().filter(|_| reading.notes.is_empty()) else {
                    skipped += 1;
                    continue;
                };
                let clean = super::validator(&reading);
                for _ in 0..12 {
                    let value = sample(&types, &reading.ty, &mut dice, 0);
                    let expected = source.is_valid(&value);
                    values += 1;
                    good += usize::from(expected);
                    if clean.is_valid(&value) != expected {
                        differences.push(format!("{server} {name} {keyword}: {expected} for {value}"));
                    }
                }
            }
        }
    }
    println!("{values} values, {good} of them good; {skipped} schemas skipped; {} differences", differences.len());
    differences.iter().take(40).for_each(|difference| println!("{difference}"));
    assert!(values > 40_000 && good > 10_000);
    assert!(differences.is_empty());
}
