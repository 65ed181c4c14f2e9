import { fileURLToPath } from 'node:url';

/** More flags and variables for Node.js. */
type Slowness = { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> };

const file = fileURLToPath(new URL('./slow-answers.ts', import.meta.url));

/** With KUBE_SEMAPHORE_SLOW_MS, answers to the programs of a test run are up to so many milliseconds late. */
export function slowness(): Slowness {
  const { KUBE_SEMAPHORE_SLOW_MS: mostMs } = process.env;
  return mostMs === undefined
    ? { flags: [], env: {} }
    : { flags: ['--import', file], env: { KUBE_SEMAPHORE_SLOW_MS: mostMs } };
}
