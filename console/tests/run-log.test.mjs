import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { RunLog, DONE, OPEN, WAITS, FAILED } = await load('../pages/runs/run-log');
const { callSites } = await load('../pages/runs/call-sites');
const { place, isFile } = await load('places');
const { axisText } = await load('../pages/runs/timeline-draw');
const { TimeScale } = await load('../pages/runs/time-scale');

const START = Date.parse('2026-11-18T07:00:00.000Z');

/** Log of events given as `[type, milliseconds, members]`. */
function logOf(...events) {
  const log = new RunLog('run_1');
  events.forEach(([type, ms, members], seq) => log.push({ type, seq, runId: 'run_1', timestamp: new Date(START + ms).toISOString(), ...members }));
  return log;
}
const call = (id, ms, name = 'pay') => ['callScheduled', ms, { callId: id, capability: 'bank', function: name, functionId: `capabilities:bank/bank@1.0.0#${name}`, params: { id } }];

test('calls at the same time have lanes of their own, which are used again', () => {
  const log = logOf(call(1, 0), call(2, 5), ['callResult', 10, { callId: 1, durationMs: 10 }], call(3, 11), ['callError', 20, { callId: 2, durationMs: 15, code: 'call.timeout', message: 'late' }]);
  assert.deepEqual([0, 1, 2].map((i) => log.lane.at(i)), [0, 1, 0]);
  assert.deepEqual([0, 1, 2].map((i) => log.state.at(i)), [DONE, FAILED, OPEN]);
  assert.equal(log.lanes, 2);
  assert.equal(log.failed, 1);
  assert.equal(log.open, 1);
  assert.equal(log.errors.get(1).code, 'call.timeout');
  assert.equal(log.durationOf(2, START + 31), 20);
});

test('a call waits for its approval, and goes on after it', () => {
  const events = [call(1, 0), ['approvalRequired', 1, { callId: 1, approvalId: 'apr_1' }], ['runPaused', 1, { reason: 'approval' }]];
  const waiting = logOf(...events);
  assert.equal(waiting.state.at(0), WAITS);
  assert.equal(waiting.pauses[0].to, undefined);
  const decided = logOf(...events, ['approvalDecided', 900, { callId: 1, approvalId: 'apr_1', decision: 'approve', by: 'ann' }], ['runResumed', 900, { pausedMs: 899 }]);
  assert.equal(decided.state.at(0), OPEN);
  assert.equal(decided.waits[0].to - decided.waits[0].from, 899);
  assert.equal(decided.waits[0].by, 'ann');
  assert.equal(decided.pauses[0].to, START + 900);
});

test('events that come again, of other runs, or of unknown calls change nothing', () => {
  const log = logOf(call(1, 0), ['callResult', 4, { callId: 1, durationMs: 4 }]);
  log.push({ type: 'callScheduled', seq: 0, runId: 'run_1', timestamp: new Date(START).toISOString(), callId: 9 });
  log.push({ type: 'callResult', seq: 2, runId: 'run_1', timestamp: new Date(START).toISOString(), callId: 77 });
  log.push({ type: 'callScheduled', seq: 3, runId: 'run_2', timestamp: new Date(START + 2).toISOString(), callId: 1, parent: { runId: 'run_1', callId: 1 } });
  log.push({ type: 'console', seq: 4, runId: 'run_1', timestamp: 'never' });
  assert.equal(log.calls, 1);
  assert.equal(log.lines, 0);
  assert.equal(log.nested.get('run_2').call, 1);
});

test('totals by function', () => {
  const log = logOf(call(1, 0), call(2, 0, 'balance'), call(3, 1), ['callResult', 9, { callId: 3, durationMs: 8 }], ['callResult', 30, { callId: 1, durationMs: 30 }]);
  const [pay, balance] = log.functions;
  assert.equal(pay.label, 'bank.pay');
  assert.deepEqual([pay.calls, pay.open, pay.totalMs, pay.slowest], [2, 0, 38, 0]);
  assert.deepEqual([balance.calls, balance.open, balance.totalMs], [1, 1, 0]);
});

test('long console output is bounded, and its later lines stay countable', () => {
  const log = new RunLog('run_1');
  for (let seq = 0; seq < 20; seq++) log.push({ type: 'console', seq, runId: 'run_1', timestamp: new Date(START).toISOString(), level: 'warn', text: 'x'.repeat(1024 * 1024) });
  assert.equal(log.lines, 20);
  assert.equal(log.lineText.length, 20);
  assert.ok(log.lineText.filter((text) => text !== undefined).length < 9);
  assert.equal(log.lineSeq.at(19), 19);
});

test('lines that call a function', () => {
  const source = "import { bank } from '@capabilities/bank';\n// bank.pay({})\nconst a = await bank.pay({ to });\nother.pay();\nbank\n  .balance({});\npayAll();";
  assert.deepEqual(callSites(source, 'bank', 'pay'), [3]);
  assert.deepEqual(callSites(source, 'shop', 'pay'), [3, 4]);
  assert.deepEqual(callSites(source, 'bank', 'balance'), [6]);
  assert.deepEqual(callSites(source, 'bank', 'a(b'), []);
  assert.deepEqual(place('agent.ts:5'), { file: 'agent.ts', line: 5 });
  assert.deepEqual(place('agent.ts:5:12'), { file: 'agent.ts', line: 5 });
  assert.equal(place('agent.ts'), undefined);
  assert.ok(isFile('src/agent.ts', 'agent'));
  assert.ok(!isFile('other.ts', 'agent.ts'));
});

test('neighbors on the axis have different texts', () => {
  for (const [from, step] of [[0, 0.5], [900, 20], [59_900, 50], [104_000, 100], [3_700_000, 10], [3_600_000, 60_000]]) {
    const texts = [0, 1, 2, 3].map((i) => axisText(from + i * step, step));
    assert.equal(new Set(texts).size, 4, texts.join(' | '));
  }
});

test('long waits are shortened, and times can be read back', () => {
  const log = logOf(call(1, 0), ['callResult', 400, { callId: 1, durationMs: 400 }], call(2, 500), ['callResult', 600_500, { callId: 2, durationMs: 600_000 }], ['runFinished', 601_000, { ok: true }]);
  assert.deepEqual(log.gaps, [{ from: START + 500, to: START + 600_500 }]);
  const scale = new TimeScale(log.first, log.last, log.gaps);
  const length = scale.place(log.last) - scale.place(log.first);
  assert.ok(length < 1500, `${length}`);
  for (const ms of [0, 100, 500, 501, 300_000, 600_499, 600_500, 600_700, 601_000]) {
    assert.ok(Math.abs(scale.time(scale.place(START + ms)) - (START + ms)) < 1, `${ms}`);
  }
  assert.equal(new TimeScale(START, START + 5000, [{ from: START + 1, to: START + 2500 }]).gaps.length, 1);
  assert.equal(new TimeScale(START, START + 60_000, [{ from: START, to: START + 2500 }]).gaps.length, 0, 'a short wait in a long run stays');
});
