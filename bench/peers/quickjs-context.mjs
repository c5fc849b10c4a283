// A context of quickjs-emscripten as a sandbox: the same for every variant of the engine.

import { callAsText, deskOverText } from './desk.mjs';

export function sandboxOf(context, disposeAll = () => context.dispose()) {
  return {
    async evaluate({ expression, kind }) {
      if (kind === 'calls') addDesk(context);
      const value = context.unwrapResult(context.evalCode(expression));
      const answer = kind === 'calls' ? await settled(context, value) : value;
      return answer.consume((handle) => context.dump(handle));
    },
    dispose: disposeAll,
  };
}

async function settled(context, promise) {
  const resolved = context.resolvePromise(promise);
  promise.dispose();
  context.runtime.executePendingJobs();
  return context.unwrapResult(await resolved);
}

function addDesk(context) {
  const call = context.newFunction('callDesk', (name, params) => {
    const deferred = context.newPromise();
    callAsText(context.getString(name), context.getString(params)).then((answer) => {
      context.newString(answer).consume((text) => deferred.resolve(text));
      context.runtime.executePendingJobs();
    });
    return deferred.handle;
  });
  call.consume((handle) => context.setProp(context.global, 'callDesk', handle));
  context.unwrapResult(context.evalCode(deskOverText)).dispose();
}
