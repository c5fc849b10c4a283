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
  }

  type Schema = { readonly type?: unknown; readonly [keyword: string]: unknown };

  /** What a schema allows; `any` where it says more than this reads. */
  type ValueOf<S> = S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly const: infer Value }
      ? Value
      : S extends { readonly type: 'array'; readonly items: infer Item }
        ? ValueOf<Item>[]
        : S extends { readonly type: infer Name extends keyof TypeNames }
          ? TypeNames[Name]
          : S extends keyof TypeNames
            ? TypeNames[S]
            : any;

  /** A parameter with a default is always there when the handler is called. */
  type IsOptional<S> = S extends { readonly default: unknown }
    ? false
    : S extends { readonly optional: true } | { readonly required: false }
      ? true
      : false;

  /** What a handler is called with: of a flat map its members, of a JSON Schema anything. */
  type ParamsOf<P> = P extends { readonly type: 'object' } | { readonly properties: object }
    ? any
    : { [K in keyof P as IsOptional<P[K]> extends true ? never : K]: ValueOf<P[K]> } & {
        [K in keyof P as IsOptional<P[K]> extends true ? K : never]?: ValueOf<P[K]>;
      };

  interface Settings {
    requiresApproval?: boolean;
    approvalMessage?: string;
    rateLimit?: { requests: number; period: 'second' | 'minute' | 'hour' | 'day' };
    scopes?: readonly string[];
  }

  interface FunctionDefinition<P> {
    description?: string;
    title?: string;
    parameters?: P;
    /** `{} as Trip[]`, or a JSON Schema. */
    returns?: unknown;
    requiresApproval?: boolean;
    approvalMessage?: string | ((params: ParamsOf<P>) => string);
    config?: Settings;
    annotations?: {
      title?: string;
      readOnlyHint?: boolean;
      destructiveHint?: boolean;
      idempotentHint?: boolean;
      openWorldHint?: boolean;
    };
    handler: (params: ParamsOf<P>) => unknown;
  }

  interface Tool<P> {
    /** The name of its export when absent. */
    name?: string;
    owner?: string;
    description?: string;
    version?: string;
    functions: { [K in keyof P]: FunctionDefinition<P[K]> };
    config?: Settings;
  }

  /** Defines a capability and what answers it. */
  export function defineTool<const P extends { [name: string]: unknown }>(tool: Tool<P>): Tool<P>;
}
