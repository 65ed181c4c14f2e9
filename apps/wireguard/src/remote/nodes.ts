import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import {
  type DeletionGuard,
  Reflector,
  type ReflectorHooks,
  type RemoteBudget,
  Store,
} from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { nodeKind, type TooLarge } from '@kube-semaphore/kube-objects';
import { claimsOf } from './seed.ts';
import { problemOf } from '../desired/diagnostic.ts';
import type { RemoteNode } from '../desired/remote-node.ts';
import { type NodeReading, type NodeRules, readNode } from './node.ts';

/** A Node as it lies in the store: the peer that it could be, and what of it is left out. */
type KeptNode = NodeReading & { readonly uid: string };

/** How a remote's objects are watched, whichever they are. */
export type WatchOptions = {
  readonly client: KubeClient;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly budget: RemoteBudget;
  readonly guard: DeletionGuard;
  readonly holdMs: number;
  /** For one more watch. */
  readonly hooks: () => ReflectorHooks;
  /** Something that peers are made of changed. */
  readonly onChange: () => void;
};

export type RemoteNodesOptions = WatchOptions & {
  /** As they are now; `reread` when they have changed. */
  readonly rules: () => NodeRules;
  /** What is left out of a Node from now on. */
  readonly onSkipped: (node: string, skipped: readonly Diagnostic[]) => void;
};

/** The Nodes of a remote cluster, as candidates for peers. */
export class RemoteNodes {
  readonly #store: Store<KeptNode>;
  readonly #reflector: Reflector<typeof nodeKind, KeptNode>;

  constructor({
    client,
    idleTimeoutMs,
    pollIntervalMs,
    budget,
    guard,
    holdMs,
    hooks,
    rules,
    onChange,
    onSkipped,
  }: RemoteNodesOptions) {
    this.#store = new Store<KeptNode>({
      equal: isSame,
      onChange: ({ key, previous, current }) => {
        onSkipped(key, current?.skipped ?? []);
        if (previous?.node !== undefined || current?.node !== undefined) onChange();
      },
      holding: { guard, hold, claims: ({ node }) => (node === undefined ? [] : claimsOf(node)), withoutClaim },
    });
    this.#reflector = new Reflector({
      client,
      kind: nodeKind,
      watchList: 'auto',
      project: (node) => ({ uid: node.metadata.uid, ...readNode(node, rules()) }),
      projectTooLarge: readTooLarge,
      store: this.#store,
      budget,
      idleTimeoutMs,
      pollIntervalMs,
      holdMs,
      hooks: hooks(),
    });
  }

  get synced(): boolean {
    return this.#store.view.synced;
  }

  /** How many Nodes there are, candidates or not. */
  get size(): number {
    return this.#store.size;
  }

  /** How many of them, or of the peers from before the start, a list lacked that isn't believed yet. */
  get held(): number {
    return this.#store.held;
  }

  /** Milliseconds since the watch last stirred. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** The candidates, in no order; undefined before the first list. */
  candidates(): readonly RemoteNode[] | undefined {
    const { view } = this.#store;
    return view.synced ? [...view.objects.values()].flatMap(({ node }) => node ?? []) : undefined;
  }

  /** What must have been there before we started, as the device's peers show: the first list is measured against it. */
  seed(ghosts: readonly RemoteNode[]): void {
    for (const node of ghosts) this.#store.seed(node.name, { uid: node.uid, node, skipped: [] });
  }

  /** Reads all Nodes anew, by rules that have changed. */
  reread(): void {
    this.#reflector.relist();
  }

  /** Watches until `signal` is aborted; once. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#reflector.run({ signal });
  }
}

function readTooLarge({ metadata, tooLarge }: TooLarge): KeptNode {
  return { uid: metadata.uid, node: undefined, skipped: problemOf('too-large', [tooLarge]) };
}

const hold = (kept: KeptNode): KeptNode =>
  kept.node === undefined ? kept : { ...kept, node: { ...kept.node, held: true } };

/** What is left of a held Node when another has its key, which is nothing, or one of its blocks. */
function withoutClaim(kept: KeptNode, claim: string): KeptNode | undefined {
  if (kept.node === undefined || claim === kept.node.publicKey) return undefined;
  const podCidrs = kept.node.podCidrs.filter(({ text }) => text !== claim);
  return podCidrs.length === 0 ? undefined : { ...kept, node: { ...kept.node, podCidrs } };
}

function isSame(a: KeptNode, b: KeptNode): boolean {
  return isDeepStrictEqual(a.node, b.node) && isDeepStrictEqual(a.skipped, b.skipped);
}
