// A context of quickjs-emscripten as a sandbox: the same for every variant of the engine.

import { callAsText, deskOfValues } from './desk.mjs';

export function sandboxOf(context, { calls }) {
  const parse = calls ? addDesk(context) : undefined;
  return {
    async evaluate({ expression }) {
      const value = context.unwrapResult(context.evalCode(expression));
      const answer = calls ? await settled(context, value) : value;
      return answer.consume((handle) => context.dump(handle));
    },
    dispose() {
      parse?.dispose();
      context.dispose();
    },
  };
}

async function settled(context, promise) {
  const resolved = context.resolvePromise(promise);
  promise.dispose();
  context.runtime.executePendingJobs();
  return context.unwrapResult(await resolved);
}

// Answers are parsed before their promise is settled, not in the job that takes them:
// a job in which the memory grows makes quickjs-emscripten lose a context, and disposing then aborts.
function addDesk(context) {
  const parse = context.unwrapResult(context.evalCode('JSON.parse'));
  const call = context.newFunction('callDesk', (name, params) => {
    const deferred = context.newPromise();
    callAsText(context.getString(name), context.getString(params)).then((answer) => {
      const text = context.newString(answer);
      const value = context.unwrapResult(context.callFunction(parse, context.undefined, text));
      text.dispose();
      value.consume((handle) => deferred.resolve(handle));
      context.runtime.executePendingJobs();
    });
    return deferred.handle;
  });
  call.consume((handle) => context.setProp(context.global, 'callDesk', handle));
  context.unwrapResult(context.evalCode(deskOfValues)).dispose();
  return parse;
}
