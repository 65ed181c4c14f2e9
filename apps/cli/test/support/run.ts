import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@kube-semaphore/testkit';

const launcher = fileURLToPath(new URL('../../bin/semaphore.js', import.meta.url));

/** Starts the program, without a kubeconfig of the machine. */
export const start = (...argv: readonly string[]) => startWith({}, ...argv);

/** Starts the program with variables. */
export const startWith = (env: Readonly<Record<string, string>>, ...argv: readonly string[]) =>
  spawnProgram(launcher, argv, { HOME: '/nonexistent', ...env });

/** Runs the program to its end. */
export const run = (...argv: readonly string[]) => runWith({}, ...argv);

/** Runs the program with variables to its end. */
export async function runWith(env: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  const program = startWith(env, ...argv);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
