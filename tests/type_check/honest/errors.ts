// --- reads the message of whatever was thrown
try { JSON.parse('{'); } catch (error) { console.log(error.message); }
'ok';
// --- asks whether it is an error
let why = '';
try { throw new TypeError('bad'); } catch (e) { why = e instanceof Error ? e.message : String(e); }
why;
// --- an unknown in catch that is narrowed
try { null.x; } catch (e: unknown) {
  if (e instanceof TypeError) console.log('type', e.message);
  else if (typeof e === 'string') console.log(e.toUpperCase());
  else throw e;
}
'ok';
// --- an unknown in catch with a code
try { throw Object.assign(new Error('x'), { code: 'E1' }); } catch (err: unknown) {
  const e = err as { code?: string };
  console.log(e.code);
}
'ok';
// --- any in catch
try { throw { status: 500, body: { detail: 'd' } }; } catch (err: any) { console.log(err.body.detail, err.status); }
'ok';
// --- an error gets more members
const failure = new Error('late');
failure.code = 'LATE';
failure.details = { after: 5 };
failure.code + failure.details.after;
// --- an error with a cause
try {
  try { throw new Error('inner'); } catch (cause) { throw new Error('outer', { cause }); }
} catch (e) { console.log(e.cause.message); }
'ok';
// --- several errors
try { throw new AggregateError([new Error('a'), new Error('b')], 'both'); } catch (e) { e.errors.map((x) => x.message).join(); }
'ok';
// --- a result instead of a throw
const safe = (fn) => { try { return [null, fn()]; } catch (e) { return [e, null]; } };
const [error, value] = safe(() => JSON.parse('[1]'));
error ? error.message : value[0];
// --- a result instead of a rejection
const to = (p) => p.then((v) => [null, v]).catch((e) => [e]);
const [e1, v1] = await to(Promise.reject(new Error('no')));
e1 ? e1.message : v1;
// --- a failure by its code
try { throw new CapabilityError('no', { code: 'call.denied' }); } catch (e) {
  if (e.code === 'call.denied') console.log('denied'); else throw e;
}
'ok';
// --- a failure by its class
try { throw new CapabilityError('later', { code: 'call.failed', retryable: true, details: { wait: 5 } }); } catch (e) {
  if (e instanceof CapabilityError && e.retryable) console.log(e.code, e.details.wait);
}
'ok';
// --- finally and a return
function f() { try { return 'a'; } finally { console.log('b'); } }
f();
// --- throws what is no error
try { throw 'text'; } catch (e) { console.log(typeof e, e.length); }
'ok';
// --- optional catch
let ok = true;
try { decodeURIComponent('%'); } catch { ok = false; }
ok;
// --- asserts
function assert(cond, message = 'assertion failed') { if (!cond) throw new Error(message); }
assert(1 + 1 === 2);
console.assert(true, 'fine');
'ok';
// --- collects problems
const problems = [];
const check = (name, fn) => { try { fn(); } catch (e) { problems.push({ name, message: e.message }); } };
check('a', () => { throw new Error('x'); });
check('b', () => {});
problems;
// --- an error's name
class NotFound extends Error { name = 'NotFound'; }
try { throw new NotFound('y'); } catch (e) { console.log(`${e.name}: ${e.message}`); }
'ok';
// --- a stack of an error
const stack = new Error('s').stack.split('\n').length;
stack > 0;
// --- narrows by in
const thing: unknown = { kind: 'a', size: 3 };
if (thing && typeof thing === 'object' && 'size' in thing) console.log(thing.size);
'ok';
// --- narrows by typeof and arrays
function describe(x: unknown): string {
  if (Array.isArray(x)) return `list of ${x.length}`;
  if (typeof x === 'object' && x !== null) return Object.keys(x).join();
  if (typeof x === 'string') return x.trim();
  return String(x);
}
[describe([1]), describe({ a: 1 }), describe(' s '), describe(5)];
// --- validates with a schema of its own
const schema = { name: 'string', age: 'number' };
const validate = (o) => Object.entries(schema).filter(([k, t]) => typeof o[k] !== t).map(([k]) => k);
validate({ name: 'x', age: '5' });
// --- defaults for absent things
const settings = { a: { b: null } };
settings?.a?.b?.c ?? 'default';
// --- absent things of JSON
const doc = JSON.parse('{"a":{}}');
[doc.a.b?.c ?? 1, doc.x?.y?.(), doc?.['z']?.[0] ?? 2];
// --- labels and loops
const found = [];
outer: for (let i = 0; i < 3; i++) {
  for (let j = 0; j < 3; j++) { if (j === 2) continue outer; if (i === 2) break outer; found.push([i, j]); }
}
found.length;
