// Every peer, in the order of the reports.

import nodeVm from './peers/node-vm.mjs';
import quickjsEmscripten from './peers/quickjs-emscripten.mjs';
import quickjsEmscriptenShared from './peers/quickjs-emscripten-shared.mjs';
import quickjsNg from './peers/quickjs-ng.mjs';

export const peers = [quickjsEmscripten, quickjsEmscriptenShared, quickjsNg, nodeVm];
