// A VM of quickjs-wasi as a sandbox, however it was made.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { callAsText, deskOfTexts } from './desk.mjs';

export function compile() {
  return WebAssembly.compile(readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));
}

export function sandboxOf(vm) {
  return {
    async evaluate({ expression, calls }) {
      const value = vm.evalCode(expression);
      const answer = calls ? await settled(vm, value) : value;
      return answer.consume((handle) => vm.dump(handle));
    },
    dispose: () => vm.dispose(),
  };
}

async function settled(vm, promise) {
  const resolved = vm.resolvePromise(promise);
  vm.executePendingJobs();
  const { value, error } = await resolved;
  promise.dispose();
  if (error) throw new Error(error.consume((handle) => handle.toString()));
  return value;
}

export function addDesk(vm) {
  vm.newFunction('callDesk', callDesk(vm)).consume((handle) => vm.setProp(vm.global, 'callDesk', handle));
  vm.evalCode(deskOfTexts).dispose();
}

// What a script's call reaches; a VM that was restored has to be given it again.
export function callDesk(vm) {
  return (name, params) => {
    const deferred = vm.newPromise();
    callAsText(name.toString(), params.toString()).then((answer) => {
      vm.newString(answer).consume((text) => deferred.resolve(text));
      vm.executePendingJobs();
    });
    return deferred.handle;
  };
}
