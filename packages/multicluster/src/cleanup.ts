import { createInterface } from 'node:readline/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { pageOf } from '@kube-semaphore/text';
import { ConfigError } from '@kube-semaphore/runtime';

/** Whose objects a `cleanup` removes, and what is known beforehand. */
export type CleanupRequest = {
  readonly cluster: string;
  /** What the config calls its clusters. What is theirs would come back, or nobody would serve it any more. */
  readonly served: readonly string[];
  /** Nobody is to be asked. */
  readonly yes: boolean;
};

/** Whether to go on, once it is known what that means. */
type Confirm = (question: string) => Promise<boolean>;

/** One object that goes, or loses the cluster's part in it. */
export type Removal = {
  /** What is done to which object, for people. */
  readonly line: string;
  readonly carryOut: (options: RunOptions) => Promise<void>;
};

/**
 * How a cleanup asks: on the terminal, where anything but yes is no, or not at all.
 *
 * @throws {ConfigError} if the config names the cluster, or there is nobody to ask
 */
export function cleanupConfirmation({ cluster, served, yes }: CleanupRequest): Confirm {
  if (served.includes(cluster))
    throw new ConfigError(
      `${cluster} is in the config, and so it is served: take it out, restart what serves it, and clean up then`,
    );
  if (yes) return () => Promise.resolve(true);
  if (!process.stdin.isTTY)
    throw new ConfigError('cleanup asks before it removes anything, and there is no terminal: say -yes');
  return askOnTerminal;
}

export type CleanupInput = {
  readonly cluster: string;
  /** What it means for others, a sentence. */
  readonly consequence: string;
  readonly confirm: Confirm;
  /** For pages of text. */
  readonly print: (page: string) => void;
};

/**
 * Prints what a cluster left, asks, and removes it, in order.
 *
 * @returns the exit code: 0 if nothing is left, 1 if somebody said no
 * @throws KubeApiError, ConnectionError; what was removed until then is gone, and another cleanup removes the rest
 */
export async function cleanUp(
  removals: readonly Removal[],
  { cluster, consequence, confirm, print }: CleanupInput,
  { signal }: RunOptions,
): Promise<0 | 1> {
  if (removals.length === 0) {
    print(pageOf([`There is nothing of cluster ${cluster}.`]));
    return 0;
  }
  print(pageOf(removals.map(({ line }) => line)));
  if (!(await confirm(`Do this to ${removals.length} objects of cluster ${cluster}? ${consequence}`))) return 1;
  for (const { carryOut } of removals) await carryOut({ signal });
  print(pageOf([`Removed what there was of cluster ${cluster}.`]));
  return 0;
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
