import { createInterface } from 'node:readline/promises';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { type CalicoApi, Codec, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { configuredIdentity } from './adoption.ts';
import { discoverCalicoApi } from './calico-api.ts';
import { observedSet, type ObservedSet } from './network-set.ts';
import { classify } from './ownership.ts';
import type { PolicyOptions } from './options.ts';
import { setWriter } from './set-writer.ts';

export type CleanupInput = {
  readonly cluster: string;
  readonly options: PolicyOptions;
  readonly local: Connection;
  readonly userAgent: string;
  /** Whether to go on, once it is known what that means. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly print: (line: string) => void;
};

/**
 * Removes the local sets of a cluster, and nothing else: for one that is served no more. Nothing but this ever removes
 * sets of a cluster that isn't in the config, for another process may serve it.
 *
 * @returns whether they are gone; false if somebody said no
 * @throws KubeApiError, ConnectionError; what was removed until then is gone
 */
export async function cleanup({ cluster, options, local, userAgent, confirm, print }: CleanupInput, { signal }: RunOptions): Promise<boolean> {
  const client = new KubeClient({ connection: local, userAgent });
  const api = await apiOf(client, options, signal);
  const sets = await setsOf(client, { api, cluster, options, signal });
  if (sets.length === 0) {
    print(`There are no sets of cluster ${cluster}.`);
    return true;
  }
  for (const { name, nets } of sets) print(`${name}  ${nets.length} nets`);
  if (!(await confirm(`Remove these ${sets.length} GlobalNetworkSets of cluster ${cluster}? Policies that select them will match nothing.`))) return false;
  const write = setWriter(client, api);
  for (const from of sets) await write({ kind: 'delete', from }, { signal });
  print(`Removed ${sets.length} sets of cluster ${cluster}.`);
  return true;
}

async function apiOf(client: KubeClient, { calicoApi }: PolicyOptions, signal: AbortSignal): Promise<CalicoApi> {
  if (calicoApi !== 'auto') return calicoApi;
  const onFailure = (error: unknown): never => {
    throw error;
  };
  return discoverCalicoApi(client, { signal, onFailure });
}

async function setsOf(
  client: KubeClient,
  { api, cluster, options, signal }: { api: CalicoApi; cluster: string; options: PolicyOptions; signal: AbortSignal },
): Promise<readonly ObservedSet[]> {
  const codec = new Codec(globalNetworkSetKind(api));
  const found: ObservedSet[] = [];
  let token = '';
  do {
    const page = await client.list(codec, { limit: 500, continue: token, signal });
    found.push(...page.items.map(observedSet));
    token = page.continue;
  } while (token !== '');
  const clusters = new Set([cluster]);
  return found.filter(({ labels }) => classify(labels, clusters, configuredIdentity(options)).kind === 'ours');
}

/** Asks on the terminal; anything but yes is no. */
export async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
