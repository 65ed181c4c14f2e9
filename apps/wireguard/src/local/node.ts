import { isDeepStrictEqual } from 'node:util';
import { Reflector, type ReflectorHooks, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Node, nodeKind } from '@kube-semaphore/kube-objects';
import { clusterOfAnnotation } from '../names.ts';
import { type AnnotationPatch, type OwnNode, readOwnNode } from '../desired/own-node.ts';

/** Our own Node, with the annotations by which agents announce themselves. */
export type KnownNode = OwnNode & {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
};

export type LocalNodeOptions = {
  /** Of the local cluster. */
  readonly client: KubeClient;
  /** `-node-name`. */
  readonly name: string;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly hooks: ReflectorHooks;
  /** What is known of it is different now. */
  readonly onChange: () => void;
};

/** The Node that we run on: watched, and told what we announce. */
export class LocalNode {
  readonly #options: LocalNodeOptions;
  readonly #codec = new Codec(nodeKind);
  readonly #store: Store<KnownNode>;
  readonly #reflector: Reflector<typeof nodeKind, KnownNode>;

  constructor(options: LocalNodeOptions) {
    const { client, name, idleTimeoutMs, pollIntervalMs, hooks, onChange } = options;
    this.#options = options;
    this.#store = new Store<KnownNode>({ equal: isSame, onChange });
    this.#reflector = new Reflector({
      client,
      kind: nodeKind,
      fieldSelector: `metadata.name=${name}`,
      watchList: 'auto',
      project: (node) => (node.metadata.name === name ? read(node) : undefined),
      store: this.#store,
      idleTimeoutMs,
      pollIntervalMs,
      hooks,
    });
  }

  /** Whether it is known if there is such a Node. */
  get synced(): boolean {
    return this.#store.view.synced;
  }

  /** The Node; undefined if there is none, or it isn't known yet. */
  get node(): KnownNode | undefined {
    const { view } = this.#store;
    return view.synced ? view.objects.get(this.#options.name) : undefined;
  }

  /** Milliseconds since the watch last stirred. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Writes annotations, in one merge patch that says nothing else. */
  async announce(annotations: AnnotationPatch, { signal }: RunOptions): Promise<void> {
    const { client, name } = this.#options;
    this.#reflector.wrote(await client.patch(this.#codec, { metadata: { annotations } }, { name, signal }));
  }

  /** Watches until `signal` is aborted; once. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#reflector.run({ signal });
  }
}

/** Annotations of others are none of our business, and some hold whole configurations. */
function read({ metadata, spec, status }: Node): KnownNode {
  const { uid, resourceVersion } = metadata;
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations).filter(([key]) => clusterOfAnnotation(key) !== undefined),
  );
  return { uid, resourceVersion, annotations, ...readOwnNode({ spec, status }) };
}

function isSame(a: KnownNode, b: KnownNode): boolean {
  const facts = ({ annotations, internalIps, podCidrs }: KnownNode) => ({ annotations, internalIps, podCidrs });
  return isDeepStrictEqual(facts(a), facts(b));
}
