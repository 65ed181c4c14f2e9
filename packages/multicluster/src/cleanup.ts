import { createInterface } from 'node:readline/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { pageOf } from '@kube-semaphore/text';
import { ConfigError } from '@kube-semaphore/runtime';
import type { StoredProfile } from './inventory/profile.ts';

export type CleanupRequest = {
  readonly cluster: string;
  /** The clusters of the config: a running program would restore their objects. */
  readonly served: readonly string[];
  /** Those of its inventory, which are served, too. */
  readonly profiles: readonly Pick<StoredProfile, 'profile' | 'cluster'>[];
  /** Without a question. */
  readonly yes: boolean;
};

/** Whether to go on, once the changes are known. */
type Confirm = (question: string) => Promise<boolean>;

/** One object that is removed, or changed so that the cluster has no part in it; with `writeIfConfirmed`, any write. */
export type Removal = {
  /** What is done to which object, for people. */
  readonly line: string;
  readonly carryOut: (options: RunOptions) => Promise<void>;
};

/**
 * How a cleanup asks: on the terminal, where any answer but yes is no, or not at all.
 *
 * @throws {ConfigError} if the config or its inventory names the cluster, or there is no terminal
 */
export function cleanupConfirmation({ cluster, served, profiles, yes }: CleanupRequest): Confirm {
  if (served.includes(cluster)) throw new ConfigError(`${cluster} is in the config: remove it there first`);
  const described = profiles.find((each) => each.cluster === cluster);
  if (described !== undefined)
    throw new ConfigError(`${cluster} is in the inventory: remove its ClusterProfile ${described.profile} first`);
  return confirmation('cleanup', { yes });
}

/** @throws {ConfigError} if there is no terminal */
export function confirmation(subcommand: string, { yes }: Pick<CleanupRequest, 'yes'>): Confirm {
  if (yes) return () => Promise.resolve(true);
  if (!process.stdin.isTTY)
    throw new ConfigError(`${subcommand} asks before it changes anything, but stdin is not a terminal: use -yes`);
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
 * Prints what is left of a cluster, asks, and removes it, in order.
 *
 * @returns the exit code: 0 if nothing is left, 1 if the answer is no
 * @throws KubeApiError, ConnectionError; earlier removals stay done, and another cleanup continues
 */
export async function cleanUp(
  removals: readonly Removal[],
  { cluster, consequence, confirm, print }: CleanupInput,
  run: RunOptions,
): Promise<0 | 1> {
  const nothing = `Nothing to remove for cluster ${cluster}.`;
  const question = `Make these ${removals.length} changes for cluster ${cluster}? ${consequence}`;
  return writeIfConfirmed(removals, { nothing, question, done: `Cleaned up cluster ${cluster}.`, confirm, print }, run);
}

type Dialogue = Pick<CleanupInput, 'confirm' | 'print'> & {
  /** Said if there is nothing to write. */
  readonly nothing: string;
  readonly question: string;
  readonly done: string;
};

/** Prints what would be written, asks, and writes it, in order. @returns and throws as `cleanUp` */
export async function writeIfConfirmed(
  writes: readonly Removal[],
  { nothing, question, done, confirm, print }: Dialogue,
  { signal }: RunOptions,
): Promise<0 | 1> {
  if (writes.length === 0) {
    print(pageOf([nothing]));
    return 0;
  }
  print(pageOf(writes.map(({ line }) => line)));
  if (!(await confirm(question))) return 1;
  for (const { carryOut } of writes) await carryOut({ signal });
  print(pageOf([done]));
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
