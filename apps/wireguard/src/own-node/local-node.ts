import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, RunOptions, WriteOptions } from '@kube-semaphore/kube-client';
import { Codec, type Node, nodeKind } from '@kube-semaphore/kube-objects';
import { ClusterWatches, type LocalSide, Watched } from '@kube-semaphore/multicluster';
import { ConfigError, type Logger } from '@kube-semaphore/runtime';
import type { WireGuardOptions } from '../config/options.ts';
import { type AnnotationPatch, type OwnNode, readOwnNode } from './desired/own-node.ts';
import type { WireGuardMetrics } from '../metrics/metrics.ts';
import { clusterOfAnnotation } from '../names.ts';

/** Our own Node, with the annotations by which agents announce themselves. */
export type KnownNode = OwnNode & {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
};

export type LocalNodeOptions = {
  readonly localClient: KubeClient;
  readonly options: Pick<WireGuardOptions, 'nodeName' | 'watchIdleTimeoutMs'>;
  readonly metrics: WireGuardMetrics;
  readonly log: Logger;
  /** The Node is there, and what we know of it changed. */
  readonly onChange: () => void;
};

/** The local cluster's name in metrics and logs. */
const LOCAL = 'local';

/** The Node that we run on: watches it, and writes our announcements to it. */
export class LocalNode implements LocalSide {
  readonly what = 'our own Node';
  readonly #input: LocalNodeOptions;
  readonly #codec = new Codec(nodeKind);
  readonly #watches: ClusterWatches;
  readonly #nodes: Watched<typeof nodeKind, KnownNode>;
  /** Remotes whose last announcement failed. */
  readonly #unannounced = new Set<string>();

  constructor(input: LocalNodeOptions) {
    const { localClient: client, options, metrics, log } = input;
    const { nodeName, watchIdleTimeoutMs: idleTimeoutMs } = options;
    this.#input = input;
    this.#watches = new ClusterWatches({ cluster: LOCAL, metrics, log });
    this.#nodes = new Watched<typeof nodeKind, KnownNode>({
      client,
      kind: nodeKind,
      fieldSelector: `metadata.name=${nodeName}`,
      project: (node) => (node.metadata.name === nodeName ? read(node) : undefined),
      equal: isSame,
      onChange: ({ current }) => this.#changed(current),
      idleTimeoutMs,
      hooks: this.#watches.hooks(),
    });
  }

  get listed(): Promise<void> {
    return this.#watches.firstSync;
  }

  isSynced(): boolean {
    return this.#nodes.synced;
  }

  loops() {
    return [{ name: 'our own node', silentMs: this.#nodes.silentMs }];
  }

  failure(): string | undefined {
    return this.#watches.failure;
  }

  /** Not up while an announcement fails, as in the metrics. */
  connection() {
    const status = this.#watches.status();
    return { ...status, up: status.up && this.#unannounced.size === 0 };
  }

  /** The Node; undefined if it isn't there, or not known yet. */
  get node(): KnownNode | undefined {
    return this.#nodes.get(this.#input.options.nodeName);
  }

  /** Why our Node is missing, if it is known to be missing. */
  get problem(): string | undefined {
    return this.isSynced() && this.node === undefined
      ? `there is no Node ${this.#input.options.nodeName} in the local cluster: -node-name or SWG_NODE_NAME`
      : undefined;
  }

  /** The Node, of a cluster that is known. @throws {ConfigError} if it isn't there */
  required(): KnownNode {
    if (this.node === undefined) throw new ConfigError(this.problem ?? 'our own Node is not known yet');
    return this.node;
  }

  /** Writes annotations, in one merge patch that contains nothing else. */
  async annotate(annotations: AnnotationPatch, options: WriteOptions): Promise<void> {
    const {
      localClient,
      options: { nodeName: name },
    } = this.#input;
    const node = await localClient.patch(this.#codec, { metadata: { annotations } }, { ...options, name });
    if (options.dryRun !== true) this.#nodes.wrote(node);
  }

  /**
   * Announces us to a remote. While this fails for any remote, the metrics show the local cluster as down.
   *
   * @param patch undefined: the Node has the right annotations
   */
  async announce(remote: string, patch: AnnotationPatch | undefined, { signal }: RunOptions): Promise<void> {
    try {
      if (patch !== undefined) await this.annotate(patch, { signal });
      this.forget(remote);
    } catch (error) {
      if (!signal.aborted) this.#unannounced.add(remote);
      throw error;
    } finally {
      // Set each time, as the watch of our Node may have set it to 1 meanwhile.
      if (this.#unannounced.size > 0) this.#showUp(0);
    }
  }

  /** No announcement to this remote fails now. */
  forget(remote: string): void {
    const recovered = this.#unannounced.delete(remote);
    if (recovered && this.#unannounced.size === 0 && this.#watches.isUp) this.#showUp(1);
  }

  /** Watches until `signal` is aborted; once. */
  run({ signal }: RunOptions): Promise<void> {
    return this.#nodes.run({ signal });
  }

  #changed(current: KnownNode | undefined): void {
    const { options, log, onChange } = this.#input;
    if (current !== undefined) onChange();
    else log.warn({ node: options.nodeName }, 'our own Node is gone; devices and peers stay until it is back');
  }

  #showUp(isUp: 0 | 1): void {
    this.#input.metrics.remoteUp.set({ remote: LOCAL }, isUp);
  }
}

/** Keeps the annotations of agents only: others may hold whole configurations. */
function read({ metadata, spec, status }: Node): KnownNode {
  const { uid, resourceVersion } = metadata;
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations).filter(([key]) => clusterOfAnnotation(key) !== undefined),
  );
  return { uid, resourceVersion, annotations, ...readOwnNode({ metadata, spec, status }) };
}

function isSame(a: KnownNode, b: KnownNode): boolean {
  const facts = ({ annotations, internalIps, externalIps, endpointAddress, podCidrs }: KnownNode) => ({
    annotations,
    internalIps,
    externalIps,
    endpointAddress,
    podCidrs,
  });
  return isDeepStrictEqual(facts(a), facts(b));
}
