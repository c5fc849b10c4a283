function log(count) {
  const lines = [];
  for (let i = 0; i < count; i++) {
    const when = `2026-0${1 + (i % 9)}-${10 + (i % 18)}`;
    lines.push(`${when} ${i % 4 === 0 ? 'ERROR' : 'INFO'} user${i}@example.org took ${(i * 37) % 1000}ms`);
  }
  return lines.join('\n');
}

function read(text) {
  let took = 0;
  let errors = 0;
  for (const match of text.matchAll(/^(\d{4})-(\d{2})-(\d{2}) (ERROR|INFO) ([\w.]+@[\w.]+) took (\d+)ms$/gm)) {
    took += Number(match[6]);
    if (match[4] === 'ERROR') errors += 1;
  }
  const hidden = text.replace(/user(\d)\d*@/g, 'user$1@');
  return [errors, took, hidden.length, /took 999ms\b/.test(text)];
}

export default read(log(2000));
