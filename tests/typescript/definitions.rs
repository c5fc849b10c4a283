//! Definitions with types from other files: their output, checked with `tsc` on both sides.

use super::TypeScript;
use agent_spaces::project::{Outlines, Scope, build, definitions_at};
use std::fs;
use tempfile::TempDir;

const DEFINITION: &str = "\
import { defineTool } from '@agent-spaces/capabilities';
import { LEVELS, type Customer } from './shared/types.ts';
import { find } from './shared/find';

export const crm = defineTool({
  name: 'crm',
  functions: {
    search: {
      parameters: {
        query: { type: 'string', required: true },
        level: { type: 'string', enum: LEVELS, optional: true },
        limit: { type: 'number', default: 10 },
      },
      returns: {} as Customer[],
      handler: async ({ query, level, limit }) => find(query, level ?? 'low', limit),
    },
  },
});
";

const TYPES: &str = "\
export const LEVELS = ['low', 'high'] as const;
export type Level = (typeof LEVELS)[number];
export interface Customer { id: string; level: Level; raw?: Map<string, string> }
";

const FIND: &str = "\
import type { Customer, Level } from './types';
export const find = async (query: string, level: Level, limit: number): Promise<Customer[]> =>
  [{ id: `${query}-${limit}`, level }];
";

/// A project after `agent-spaces capabilities build`, and the notes of that.
fn project() -> (TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("capabilities/shared");
    fs::create_dir_all(&shared).unwrap();
    fs::write(folder.path().join("capabilities/crm.ts"), DEFINITION).unwrap();
    fs::write(shared.join("types.ts"), TYPES).unwrap();
    fs::write(shared.join("find.ts"), FIND).unwrap();
    let definitions = definitions_at(&folder.path().join("capabilities"), &Outlines::none()).unwrap();
    let report = build(folder.path(), &definitions, Scope::Whole, |_| {}).unwrap();
    (folder, report.notes.iter().map(|note| format!("{}: {}", note.place, note.message)).collect())
}

#[test]
fn types_of_other_files_appear_in_the_declarations() {
    let (folder, notes) = project();
    let declarations = fs::read_to_string(folder.path().join(".agent-spaces/capabilities/crm/index.d.ts")).unwrap();
    assert!(declarations.contains("export interface Customer"), "{declarations}");
    assert!(declarations.contains("'low' | 'high'"), "{declarations}");
    let [note] = notes.as_slice() else { panic!("{notes:#?}") };
    assert!(note.contains("capabilities/shared/types.ts: 3:61: `Map` has no JSON representation"), "{note}");
}

#[test]
fn tsc_checks_definitions_against_scripts() {
    let Some(tsc) = TypeScript::find() else { return };
    let (folder, _) = project();
    let script = folder.path().join("agent.ts");
    let import = "import { crm } from '@capabilities/crm';\n";
    let right = "const levels: ('low' | 'high')[] = await crm.search({ query: 'x', level: 'low' }).map(c => c.level);";
    fs::write(&script, format!("{import}{right}")).unwrap();
    assert_eq!(tsc.check(folder.path()), "");
    for (wrong, error) in [
        ("await crm.search({ level: 'low' });", "TS2345"),
        ("await crm.search({ query: 'x', level: 'mid' });", "TS2322"),
        ("await crm.search({ querry: 'x' });", "TS2561"),
        ("(await crm.search({ query: 'x' }))[0].nam;", "TS2339"),
    ] {
        fs::write(&script, format!("{import}{wrong}")).unwrap();
        let said = tsc.check(folder.path());
        assert!(said.contains("agent.ts(2,") && said.contains(error), "{wrong}\n{said}");
    }
    fs::remove_file(&script).unwrap();
    let definition = folder.path().join("capabilities/crm.ts");
    fs::write(&definition, DEFINITION.replace("find(query, level ?? 'low', limit)", "[{ id: query, level: 'mid' }]"))
        .unwrap();
    let said = tsc.check(folder.path());
    assert!(said.contains("crm.ts(15,") && said.contains("TS2322"), "{said}");
}
