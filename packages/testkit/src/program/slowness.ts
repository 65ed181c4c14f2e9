import { fileURLToPath } from 'node:url';

/** What Node.js is started with besides. */
type Slowness = { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> };

const file = fileURLToPath(new URL('./slow-answers.ts', import.meta.url));

/** Where KUBE_SEMAPHORE_SLOW_MS is set for a test run, the answers to the programs that it starts are so late at most. */
export function slowness(): Slowness {
  const { KUBE_SEMAPHORE_SLOW_MS: mostMs } = process.env;
  return mostMs === undefined
    ? { flags: [], env: {} }
    : { flags: ['--import', file], env: { KUBE_SEMAPHORE_SLOW_MS: mostMs } };
}
