//! `tsc --strict` on definitions: what `defineTool` infers, and what it refuses, at its line.

use crate::emit::typescript::{Folder, tsc};

const TYPES: &str = "export interface Customer { id: string; name?: string }\n\
                     export const LEVELS = ['low', 'high'] as const;\n";

/// Valid definitions; `check` refuses a type that is not exactly the one beside it.
const RIGHT: &str = r#"
import { defineTool } from '@agent-spaces/capabilities';
import { LEVELS, type Customer } from './types.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const check = <T extends true>(): T | void => {};
interface Search { query: string; limit?: number }

export const right = defineTool({
  name: 'right',
  functions: {
    flat: {
      parameters: {
        query: { type: 'string', required: true },
        limit: { type: 'number', default: 10 },
        date: { type: 'string', format: 'date', optional: true },
        note: { type: 'string', required: false },
        kind: { type: 'string', enum: ['x', 'y'] },
        level: { type: 'string', enum: LEVELS },
        list: { type: 'array', items: { type: 'integer' } },
        listed: { type: 'object', properties: { s: { type: 'string' }, z: { type: 'boolean' } }, required: ['s'] },
        flagged: { type: 'object', properties: { s: { type: 'string' }, z: { type: 'boolean', optional: true } } },
        short: 'boolean',
        open: { type: 'object' },
        either: { type: ['string', 'null'] },
      },
      returns: {} as Customer[],
      requiresApproval: true,
      approvalMessage: (params) => {
        check<Equal<typeof params.kind, 'x' | 'y'>>();
        return `${params.query} ${params.limit.toFixed(1)}`;
      },
      handler: async (params) => {
        check<Equal<typeof params, {
          query: string; limit: number; kind: 'x' | 'y'; level: 'low' | 'high'; list: number[];
          listed: { s: string; z?: boolean }; flagged: { s: string; z?: boolean }; short: boolean;
          open: Record<string, any>; either: string | null; date?: string; note?: string;
        }>>();
        return [{ id: params.query }];
      },
    },
    schema: {
      parameters: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer', default: 1 }, c: { type: 'null' }, d: { anyOf: [] } },
        required: ['a', 'd'],
      },
      returns: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
      handler: (params) => {
        check<Equal<typeof params, { a: string; b: number; d: any; c?: null }>>();
        return [{ id: params.a, more: 1 }];
      },
    },
    typed: {
      parameters: {} as Search,
      returns: {} as Promise<Customer>,
      handler: async ({ query, limit }) => {
        check<Equal<typeof limit, number | undefined>>();
        return { id: query };
      },
    },
    none: { handler: () => 5 },
    empty: { parameters: {}, returns: null as unknown as Customer | null, handler: async () => null },
    name: { returns: 'string', handler: async () => 'x' },
    map: { returns: { id: { type: 'string' } }, handler: async () => ({ id: 'x' }) },
    text: { returns: {} as string, handler: () => 'free' },
    nothing: { returns: undefined as void, handler: async () => {} },
    anything: { parameters: {} as any, returns: {} as unknown, handler: async (params) => params.whatever },
    limited: { rateLimit: { requests: 1, period: 'day' }, scopes: ['a'], approvalMessage: 'Do {{it}}?', handler: () => 1 },
  },
  config: { requiresApproval: false, approvalMessage: (params) => `${params.any}` },
});
"#;

#[test]
fn tsc_infers_types_of_definitions() {
    let Some(tsc) = tsc() else { return };
    let folder = Folder::new("definitions");
    folder.install(&[]);
    folder.write("capabilities/types.ts", TYPES);
    folder.write("capabilities/right.ts", RIGHT);
    assert_eq!(folder.check(&tsc), "");
}

/// Each function is invalid on its own, on its own line.
#[test]
fn tsc_refuses_invalid_definitions() {
    let Some(tsc) = tsc() else { return };
    let folder = Folder::new("wrong-definitions");
    folder.install(&[]);
    folder.write("capabilities/types.ts", TYPES);
    let wrong = [
        // Results.
        ("parameters: P, returns: {} as Customer[], handler: async ({ q }) => [{ name: q }]", "TS2741"),
        ("returns: {} as Customer, handler: async () => ({ id: 5 })", "TS2322"),
        ("returns: {} as Customer, handler: () => { return 'text'; }", "TS2322"),
        ("returns: {} as 'a' | 'b', handler: () => 'c'", "TS2322"),
        ("returns: { type: 'string' }, handler: () => 5", "TS2322"),
        (
            "returns: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } }, handler: () => [{}]",
            "TS2741",
        ),
        // Unknown parameters.
        ("parameters: P, handler: async ({ querry }) => querry", "TS2339"),
        ("parameters: P, approvalMessage: (p) => p.missing, handler: () => 1", "TS2339"),
        ("handler: ({ none }) => none", "TS2339"),
        // Optional parameters.
        ("parameters: P, handler: ({ o }) => o.length", "TS18048"),
        (
            "parameters: { type: 'object', properties: { a: { type: 'string' } } }, handler: ({ a }) => a.length",
            "TS18048",
        ),
        ("parameters: {} as Search, handler: ({ limit }) => limit.toFixed()", "TS18048"),
        // Parameters of another type.
        ("parameters: P, handler: ({ e }) => e === 'z'", "TS2367"),
        ("parameters: P, handler: ({ q }) => q.toFixed()", "TS2551"),
        // Settings.
        ("requireApproval: true, handler: () => 1", "TS2561"),
        ("requiresApproval: 'yes', handler: () => 1", "TS2322"),
        ("rateLimit: { requests: 1, period: 'week' }, handler: () => 1", "TS2322"),
        ("parameters: P", "TS2322"),
    ];
    let head = "import { defineTool } from '@agent-spaces/capabilities'; import type { Customer } from './types'; \
                const P = { q: { type: 'string' }, o: { type: 'string', optional: true }, e: { type: 'string', enum: ['x', 'y'] } } as const; \
                interface Search { query: string; limit?: number } export const wrong = defineTool({ functions: {\n";
    let lines: Vec<String> = wrong.iter().enumerate().map(|(n, (body, _))| format!("f{n}: {{ {body} }},\n")).collect();
    folder.write("capabilities/wrong.ts", &format!("{head}{}}} }});\n", lines.concat()));
    let said = folder.check(&tsc);
    for (index, (body, error)) in wrong.iter().enumerate() {
        let line = format!("wrong.ts({},", index + 2);
        let is_said = said.lines().any(|text| text.contains(&line) && text.contains(error));
        assert!(is_said, "{body}: no {error} in line {}\n{said}", index + 2);
    }
    let lines = said.lines().filter(|line| line.contains("wrong.ts(")).count();
    assert_eq!(lines, wrong.len(), "{said}");
}
