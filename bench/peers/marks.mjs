// Times a kernel where making a sandbox and evaluating are one call: the script calls the host
// before and after, and the host looks at its clock.

export function marked(body, call) {
  const times = [];
  const mark = async () => times.push(performance.now() * 1000);
  return {
    js: `${call}; const answer = (() => {\n${body}\n})(); ${call}; return answer;`,
    clock: { mark },
    elapsed: () => times[1] - times[0],
  };
}
