import { fileURLToPath } from 'node:url';
import { type Program, spawnProgram } from '@kube-semaphore/testkit';

/** semaphore-policy as a process. */
export type PolicyProcess = Program;

const launcher = fileURLToPath(new URL('../../bin/semaphore-policy.js', import.meta.url));

/** Starts it with these arguments and variables, and without the variables of the test run. */
export const spawnPolicy = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): PolicyProcess =>
  spawnProgram(launcher, argv, env);
