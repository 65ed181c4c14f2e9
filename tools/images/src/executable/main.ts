import { fileURLToPath } from 'node:url';
import { makeExecutable, targets } from './executable.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const named = process.argv.slice(2);
const wanted = targets.filter((target) => named.length === 0 || named.includes(target));
if (named.some((name) => !targets.some((target) => target === name))) {
  console.error(`usage: npm run executable [-- ${targets.join('|')}]`);
  process.exitCode = 2;
} else {
  for (const target of wanted) console.log(await makeExecutable(target, { root }));
}
