import { desk } from '@capabilities/desk';

const { text } = await desk.log({ lines: 100000 });

const entry = /^(\S+) (ERROR|WARN|INFO|DEBUG) \[(\w+)\] (.*)$/;
const duration = /\b(?:in|after) (\d+)ms\b/;
const address = /\b[\w.]+@[\w.]+\b/;
const cause = /: ([a-z ]+) \(/;

const levels = {};
const causes = {};
const troubled = new Map();
const slow = [];
for (const line of text.split('\n')) {
  const match = entry.exec(line);
  if (!match) continue;
  const [, at, level, service, message] = match;
  levels[level] = (levels[level] ?? 0) + 1;
  const took = Number(duration.exec(message)?.[1] ?? 0);
  if (took >= 1990) slow.push({ at, service, took });
  if (level !== 'ERROR') continue;
  const why = cause.exec(message)?.[1] ?? 'unknown';
  causes[why] = (causes[why] ?? 0) + 1;
  const user = address.exec(message)?.[0];
  troubled.set(user, (troubled.get(user) ?? 0) + 1);
}

const refused = text.match(/^.*\bconnection refused\b.*$/gm) ?? [];
const paths = new Set(Array.from(text.matchAll(/ GET (\/v1\/\w+)\/\d+ 5\d\d /g), ([, path]) => path));
const hidden = text.replace(/\buser(\d)\d*@/g, 'user$1*@');

const topUsers = [...troubled].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 5);
slow.sort((a, b) => b.took - a.took || (a.at < b.at ? -1 : 1));

export default {
  levels,
  causes,
  topUsers,
  slowest: slow.slice(0, 3),
  slow: slow.length,
  refused: refused.length,
  paths: [...paths].sort(),
  hidden: hidden.length,
};
