import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { nodeKind } from '@kube-semaphore/kube-objects';
import { asWhole, Watched } from '@kube-semaphore/multicluster';
import { pubKeyAnnotation, Witnesses } from '@kube-semaphore/naming';
import type { Logger } from '@kube-semaphore/runtime';
import type { WireGuardOptions } from '../../config/options.ts';
import { clusterOfAnnotation } from '../../names.ts';

export type LocalAgentsOptions = {
  readonly localClient: KubeClient;
  readonly options: Pick<WireGuardOptions, 'watchIdleTimeoutMs'>;
  readonly log: Logger;
};

/** A Node of the local cluster, and the remotes that it announces its key to, sorted. */
type Agent = { readonly uid: string; readonly remotes: string };

/** The Nodes of the local cluster on which agents run. */
export class LocalAgents {
  readonly #nodes: Watched<typeof nodeKind, Agent>;
  readonly #witnesses = new Map<string, Witnesses>();

  constructor({ localClient: client, options, log }: LocalAgentsOptions) {
    this.#nodes = new Watched<typeof nodeKind, Agent>({
      client,
      kind: nodeKind,
      project: ({ metadata: { uid, annotations } }) => ({ uid, remotes: announcedTo(annotations) }),
      equal: (a, b) => a.remotes === b.remotes,
      idleTimeoutMs: options.watchIdleTimeoutMs,
      ...asWhole({
        update: () => this.#witnesses.clear(),
        failed: (error) => log.debug({ error }, 'watch of local Nodes failed'),
      }),
    });
  }

  /** The same until an agent comes or goes; undefined before the first list. */
  witnesses(remote: string): Witnesses | undefined {
    const { objects } = this.#nodes;
    if (objects === undefined) return undefined;
    const known = this.#witnesses.get(remote);
    if (known !== undefined) return known;
    const names = [...objects].flatMap(([name, { remotes }]) => (remotes.split(' ').includes(remote) ? [name] : []));
    const witnesses = new Witnesses(names);
    this.#witnesses.set(remote, witnesses);
    return witnesses;
  }

  /** Watches until `signal` is aborted; once. */
  run(running: RunOptions): Promise<void> {
    return this.#nodes.run(running);
  }
}

const announcedTo = (annotations: Readonly<Record<string, string>>): string =>
  Object.keys(annotations)
    .flatMap((key) => {
      const cluster = clusterOfAnnotation(key);
      return cluster !== undefined && key === pubKeyAnnotation(cluster) ? [cluster] : [];
    })
    .toSorted()
    .join(' ');
