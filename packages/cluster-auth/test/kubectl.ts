import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { kubectlFolder } from '@kube-semaphore/testkit';

/** What a client got from an API server. */
export type Outcome = 'reached' | 'not reached';

/** Whether a request was answered. */
export const outcomeOf = (request: Promise<unknown>): Promise<Outcome> =>
  request.then(
    () => 'reached',
    () => 'not reached',
  );

/** kubectl itself. */
export const kubectl = join(kubectlFolder ?? '', 'kubectl');

/** The arguments of kubectl for a GET. */
export const getArguments = (kubeconfig: string, path = '/'): readonly string[] => [
  '--kubeconfig',
  kubeconfig,
  'get',
  '--raw',
  path,
];

/** Sends a GET of `/` by kubectl. */
export function askByKubectl(
  kubeconfig: string,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
) {
  const { promise, resolve } = Promise.withResolvers<{ outcome: Outcome; words: string }>();
  const child = execFile(kubectl, [...getArguments(kubeconfig), ...flags], { env }, (error, _stdout, stderr) =>
    resolve({ outcome: error === null ? 'reached' : 'not reached', words: stderr.trim() }),
  );
  // Without credentials, it asks for a password.
  child.stdin?.end();
  return promise;
}
