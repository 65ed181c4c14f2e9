import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@kube-semaphore/testkit';

const launcher = fileURLToPath(new URL('../../bin/semaphore.js', import.meta.url));

/** Starts the program, without a kubeconfig of the machine. */
export const start = (...argv: readonly string[]) => spawnProgram(launcher, argv, { HOME: '/nonexistent' });

/** Runs the program to its end. */
export async function run(...argv: readonly string[]) {
  const program = start(...argv);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
