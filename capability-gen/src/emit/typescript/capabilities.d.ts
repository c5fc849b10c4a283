// What definitions in TypeScript import.
declare module '@agent-spaces/capabilities' {
  interface TypeNames {
    string: string;
    number: number;
    integer: number;
    boolean: boolean;
    null: null;
    object: Record<string, any>;
    array: any[];
    any: any;
  }

  type TypeName = keyof TypeNames;

  // Schemas are looked into by their keys and not by `S extends { … }`: while a call's types are still being found out,
  // that fails for objects with arrays in them.

  /** A member of a schema; empty text where it has none. */
  type Get<S, K extends string> = K extends keyof S ? S[K] : '';

  type ItemOf<L> = L[keyof L & number];

  type Names<S> = Get<S, 'type'> extends TypeName ? Get<S, 'type'> : ItemOf<Get<S, 'type'>>;

  type Keyword = 'enum' | 'const' | '$ref' | 'anyOf' | 'oneOf' | 'allOf';

  type IsAny<T> = 0 extends 1 & T ? true : false;

  /** Whether a type is that of a JSON Schema, rather than one of values. */
  type IsSchema<S> = S extends TypeName
    ? true
    : S extends object
      ? 'type' extends keyof S
        ? Names<S> extends TypeName
          ? true
          : false
        : keyof S extends never
          ? true
          : keyof S & Keyword extends never
            ? false
            : true
      : false;

  /** Whether every member is a schema. */
  type IsFlatMap<P> = { [K in keyof P]-?: IsSchema<P[K]> }[keyof P] extends true ? true : false;

  /** What a schema allows; `any` where it says more than this reads. */
  type ValueOf<S> = S extends TypeName
    ? TypeNames[S]
    : 'enum' extends keyof S
      ? ItemOf<S['enum']>
      : 'const' extends keyof S
        ? S['const']
        : Get<S, 'type'> extends 'array'
          ? ('items' extends keyof S ? ValueOf<S['items']> : any)[]
          : Get<S, 'type'> extends 'object'
            ? 'properties' extends keyof S
              ? ObjectOf<S['properties'], S>
              : TypeNames['object']
            : Names<S> extends infer Name extends TypeName
              ? TypeNames[Name]
              : any;

  type IsFlagged<S> = true extends (S extends object ? 'optional' extends keyof S ? true : Get<S, 'required'> extends boolean ? true : false : false) ? true : false;

  /** The members of an object's schema: by its `required` list, or as of a flat map where one has a flag. */
  type ObjectOf<Members, S> = 'required' extends keyof S
    ? Get<S, 'required'> extends boolean
      ? Unlisted<Members>
      : With<Members, ItemOf<S['required']> | Given<Members>>
    : Unlisted<Members>;

  type Unlisted<Members> = true extends { [K in keyof Members]: IsFlagged<Members[K]> }[keyof Members]
    ? FlatMap<Members>
    : With<Members, Given<Members>>;

  /** The names of those that have a default: they are always there when a handler is called. */
  type Given<Members> = { [K in keyof Members]: 'default' extends keyof Members[K] ? K : never }[keyof Members];

  type IsOptional<S> = S extends TypeName
    ? false
    : 'default' extends keyof S
      ? false
      : Get<S, 'optional'> extends true
        ? true
        : Get<S, 'required'> extends false
          ? true
          : false;

  type FlatMap<P> = With<P, { [K in keyof P]: IsOptional<P[K]> extends true ? never : K }[keyof P]>;

  /** As one object, which editors show as it is. */
  type With<Members, Required> = {
    [K in keyof (Present<Members, Required> & Absent<Members, Required>)]: (Present<Members, Required> &
      Absent<Members, Required>)[K];
  };
  type Present<Members, Required> = { -readonly [K in keyof Members as K extends Required ? K : never]: ValueOf<Members[K]> };
  type Absent<Members, Required> = { -readonly [K in keyof Members as K extends Required ? never : K]?: ValueOf<Members[K]> };

  /** What a handler is called with, by a flat map, a JSON Schema or `{} as T`. */
  type ParamsOf<P> =
    IsAny<P> extends true
      ? any
      : unknown extends P
        ? {}
        : Get<P, 'type'> extends 'object'
          ? ValueOf<P>
          : IsFlatMap<P> extends true
            ? FlatMap<P>
            : IsSchema<P> extends true
              ? any
              : 'properties' extends keyof P
                ? any
                : P;

  /** What a handler gives, by `{} as T`, a JSON Schema or a flat map. */
  type ResultOf<R> =
    unknown extends R
      ? unknown
      : IsSchema<R> extends true
        ? keyof R extends never
          ? R
          : ValueOf<R>
        : IsFlatMap<R> extends true
          ? FlatMap<R>
          : Awaited<R>;

  interface Settings {
    requiresApproval?: boolean;
    approvalMessage?: string | ((params: any) => string);
    rateLimit?: { requests: number; period: 'second' | 'minute' | 'hour' | 'day' };
    scopes?: readonly string[];
  }

  interface FunctionDefinition<P, R> {
    description?: string;
    title?: string;
    /** By name: `{ type: 'string', optional: true }`. Or a JSON Schema, or `{} as T`. */
    parameters?: P;
    requiresApproval?: boolean;
    /** What a person is asked; `{{name}}` in a text stands for a parameter. */
    approvalMessage?: string | ((params: ParamsOf<P>) => string);
    /** Words by which people sort functions. */
    tags?: readonly string[];
    rateLimit?: Settings['rateLimit'];
    scopes?: Settings['scopes'];
    config?: Settings;
    annotations?: {
      title?: string;
      readOnlyHint?: boolean;
      destructiveHint?: boolean;
      idempotentHint?: boolean;
      openWorldHint?: boolean;
    };
    handler: (params: ParamsOf<P>) => ResultOf<R> | PromiseLike<ResultOf<R>>;
  }

  interface Tool<P, R> {
    /** The name of its export when absent. */
    name?: string;
    owner?: string;
    /** Words by which people sort functions; they hold for all of them. */
    tags?: readonly string[];
    description?: string;
    version?: string;
    functions: { [K in keyof P]: FunctionDefinition<P[K], K extends keyof R ? R[K] : unknown> } & {
      [K in keyof R]: {
        /** `{} as Trip[]`, or a JSON Schema. */
        returns?: R[K];
      };
    };
    config?: Settings;
  }

  /** Defines a capability and what answers it. */
  export function defineTool<
    const P extends { [name: string]: unknown },
    const R extends { [name: string]: unknown },
  >(tool: Tool<P, R>): Tool<P, R>;
}
