// Answers a call of a compiled program by a run on the server: the server's policy, approvals, limits and audit log hold,
// whatever host the program runs in. Compiled into every plug.
import { http } from '@agent-spaces/std';

/** A function as programs of the server's space import it. */
export interface Target {
  module: string;
  capability: string;
  function: string;
  /** Arguments: none, one object, or the values of the parameters. */
  takes: 'nothing' | 'object' | 'values';
}

interface RunError {
  code: string;
  message: string;
  retryable?: boolean;
  details?: unknown;
}

interface Run {
  id: string;
  status: string;
  hasValue?: boolean;
  value?: unknown;
  error?: RunError;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  json?: unknown;
  text?: string;
}

// One request waits this long for a run; the server allows at most a minute.
const WAIT_SECONDS = 20;
// Longest time that a call waits for a person, unless AGENT_SPACES_EDGE_WAIT says otherwise.
const DEFAULT_PATIENCE_SECONDS = 3600;
// A request that found no connection, or a busy server, is sent again with the same idempotency key: nothing is done twice.
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
// Codes of runs, which are no codes of calls.
const OWN_CODES = /^(script|limit|run|import|host|config)\./;
const ENDED = ['finished', 'failed', 'cancelled'];

let calls = 0;
let space: Promise<string> | undefined;
// Calls of one program run share it. With AGENT_SPACES_EDGE_KEY, a program that is started again gets the answers of the
// first time instead of making its calls twice.
const key = variable('AGENT_SPACES_EDGE_KEY') ?? crypto.randomUUID();

/** A variable of the host; the engine throws for one that is absent. */
function variable(name: string): string | undefined {
  return name in process.env ? process.env[name] : undefined;
}

/** Makes a function of a plug. */
export function forward(target: Target) {
  return async (params: Record<string, unknown>) => {
    // A host that makes an instance for each call counts them itself.
    const number = variable('AGENT_SPACES_EDGE_CALL') ?? calls++;
    const id = await (space ??= findSpace());
    const input = { nothing: () => [], object: () => [params], values: () => Object.values(params) }[target.takes]().map(encode);
    const body = { name: `${target.capability}.${target.function}.js`.slice(0, 100), source: program(target), input };
    let run = (await request('POST', `/v1/spaces/${id}/runs?wait=${WAIT_SECONDS}`, body, `${key}.${target.capability}.${number}`)) as Run;
    const patience = Number(variable('AGENT_SPACES_EDGE_WAIT') ?? DEFAULT_PATIENCE_SECONDS) * 1000;
    const begun = Date.now();
    while (!ENDED.includes(run.status)) {
      const rest = patience - (Date.now() - begun);
      if (rest <= 0) {
        await abandon(run.id);
        throw new CapabilityError(`The server did not answer in time: its run ${run.id} was ${run.status}`, { code: 'call.timeout' });
      }
      const wait = Math.max(1, Math.min(WAIT_SECONDS, Math.ceil(rest / 1000)));
      run = (await request('GET', `/v1/runs/${run.id}?wait=${wait}`)) as Run;
    }
    if (run.status === 'finished') {
      return run.hasValue === false ? undefined : decode(run.value);
    }
    const { code = 'call.failed', message = `The run was ${run.status}`, retryable = false, details } = run.error ?? ({} as RunError);
    throw new CapabilityError(message, { code: OWN_CODES.test(code) ? 'call.failed' : code, retryable, details });
  };
}

/** The run ends before anybody approves it: nobody would get its result. */
async function abandon(run: string) {
  try {
    await request('POST', `/v1/runs/${run}/cancel`, {});
  } catch {
    // It ended meanwhile, or the server is away; the caller gets the timeout.
  }
}

/** Program of the run: one call. Values that JSON has no form for are wrapped. */
function program({ module, capability, function: name }: Target): string {
  return `import { ${capability} as capability } from ${JSON.stringify(module)};
import input from '@agent-spaces/input';
const encode = ${encode.toString()};
const decode = ${decode.toString()};
export default encode(await capability[${JSON.stringify(name)}](...input.map(decode)));
`;
}

function encode(value: any): any {
  if (value instanceof Uint8Array) return { '$bytes': Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('') };
  if (typeof value === 'bigint') return { '$integer': String(value) };
  if (Array.isArray(value)) return value.map(encode);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, member]) => [name, encode(member)]);
    const [only] = Object.keys(value);
    return entries.length === 1 && /^\$\$*(bytes|integer)$/.test(only!) ? { ['$' + only]: entries[0]![1] } : Object.fromEntries(entries);
  }
  return value;
}

function decode(value: any): any {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value);
  if (names.length === 1) {
    const [name] = names as [string];
    if (name === '$bytes') return Uint8Array.from(value[name].match(/../g) ?? [], (byte: string) => parseInt(byte, 16));
    if (name === '$integer') return BigInt(value[name]);
    if (/^\$\$+(bytes|integer)$/.test(name)) return { [name.slice(1)]: decode(value[name]) };
  }
  return Object.fromEntries(names.map((name) => [name, decode(value[name])]));
}

/** Id of the space that AGENT_SPACES_SPACE names, or of the first one that the token may use. */
async function findSpace(): Promise<string> {
  const wanted = variable('AGENT_SPACES_SPACE');
  if (wanted?.startsWith('spc_')) return wanted;
  const { items } = (await request('GET', '/v1/spaces?limit=100')) as { items: { id: string; name: string }[] };
  const found = wanted === undefined ? items[0] : items.find(({ name }) => name === wanted);
  if (!found) throw new CapabilityError(`The token may use no space ${wanted ?? ''}`.trimEnd(), { code: 'call.denied' });
  return found.id;
}

async function request(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<unknown> {
  const [url, token] = [variable('AGENT_SPACES_URL'), variable('AGENT_SPACES_TOKEN')];
  if (!url || !token) {
    throw new CapabilityError('Set AGENT_SPACES_URL and AGENT_SPACES_TOKEN for the plug', { code: 'call.unavailable' });
  }
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'application/json' };
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  for (let attempt = 1; ; attempt++) {
    let answer: Answer | undefined;
    let failure: unknown;
    try {
      const options = { headers, timeoutMs: (WAIT_SECONDS + 20) * 1000, responseType: 'json', ...(body === undefined ? {} : { json: body }) };
      answer = (await http.request(method, url.replace(/\/+$/, '') + path, options)) as Answer;
    } catch (error) {
      failure = error;
    }
    if (answer !== undefined && answer.status < 300) return answer.json;
    const isBusy = answer === undefined || answer.status === 429 || answer.status === 503;
    if (!isBusy || attempt === ATTEMPTS) throw refusal(answer, failure);
    const asked = Number(answer?.headers['retry-after'] ?? 0) * 1000;
    const pause = Math.min(LONGEST_PAUSE_MS, Math.max(asked, FIRST_PAUSE_MS * 2 ** attempt));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Error for the program: what the server says about the request, without the server's address. */
function refusal(answer: Answer | undefined, failure: unknown): unknown {
  if (answer === undefined) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return new CapabilityError(`The server of this function cannot be reached: ${reason}`, { code: 'call.unavailable', retryable: true });
  }
  const problem = (answer.json ?? {}) as { code?: string; title?: string; detail?: string };
  const text = problem.detail ?? problem.title ?? `status ${answer.status}`;
  const isDenied = [401, 403, 404].includes(answer.status) || problem.code?.startsWith('import.') === true;
  const isBusy = answer.status === 429 || answer.status === 503;
  return new CapabilityError(`The server refused the call (${problem.code ?? answer.status}): ${text}`, {
    code: isDenied ? 'call.denied' : 'call.unavailable',
    retryable: isBusy,
  });
}
