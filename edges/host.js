// Imports of a program and of plugs in node and browsers: the clock, randomness and output of WASI, written for jco's modules.

class Output {
  constructor(write) {
    this.blockingWriteAndFlush = write;
  }
}

/** Imports without capabilities. `write(stream, bytes)` gets what is written to `stdout` and `stderr`. */
export function imports({ write, environment = {} }) {
  const stream = (name) => new Output((bytes) => write(name, bytes));
  const [stdout, stderr] = [stream('stdout'), stream('stderr')];
  const nanoseconds = () => BigInt(Math.round(performance.now() * 1e6));
  return {
    'wasi:cli/stdout': { getStdout: () => stdout },
    'wasi:cli/stderr': { getStderr: () => stderr },
    'wasi:cli/environment': { getEnvironment: () => Object.entries(environment) },
    'wasi:clocks/monotonic-clock': {
      now: nanoseconds,
      waitFor: (duration) => new Promise((resolve) => setTimeout(resolve, Math.min(Number(duration / 1_000_000n) + 1, 0x7fffffff))),
    },
    'wasi:clocks/system-clock': {
      now() {
        const now = Date.now();
        return { seconds: BigInt(Math.floor(now / 1000)), nanoseconds: (now % 1000) * 1e6 };
      },
    },
    'wasi:random/random': { getRandomU64: () => crypto.getRandomValues(new BigUint64Array(1))[0] },
    'wasi:io/error': { Error: class {} },
    'wasi:io/streams': { OutputStream: Output, InputStream: class {} },
  };
}
