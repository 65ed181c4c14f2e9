import { fileURLToPath } from 'node:url';
import { machines, makeExecutable } from './executable.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const named = process.argv.slice(2);
const wanted = machines.filter((machine) => named.length === 0 || named.includes(machine));
if (named.some((name) => !machines.some((machine) => machine === name))) {
  console.error(`usage: npm run executable [-- ${machines.join('|')}]`);
  process.exitCode = 2;
} else {
  for (const machine of wanted) console.log(await makeExecutable(machine, { root }));
}
