import { isDeepStrictEqual } from 'node:util';
import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Node, nodeKind } from '@kube-semaphore/kube-objects';
import { asWhole, type Diagnostic, listUntilAnswered, type Remotes, Watched } from '@kube-semaphore/multicluster';
import { parseReport, pubKeyAnnotation, silentAnnotation, TUNNEL_DOMAIN } from '@kube-semaphore/naming';
import type { Logger } from '@kube-semaphore/runtime';
import type { MirrorOptions } from '../../config/options.ts';
import type { RemoteSettings } from '../../config/settings.ts';
import type { MirrorMetrics } from '../../metrics/metrics.ts';
import { NO_VERDICT, type Reports, type Verdict, verdictOf } from '../desired/tunnels.ts';

export type LocalTunnelsOptions = {
  readonly client: KubeClient;
  readonly options: Pick<MirrorOptions, 'watchIdleTimeoutMs'>;
  readonly remotes: Pick<Remotes<RemoteSettings>, 'all'>;
  readonly log: Logger;
  readonly metrics: Pick<MirrorMetrics, 'silentNodes'>;
  /** Enqueues all Services of a remote. */
  readonly enqueueOf: (remote: string) => void;
};

/** What `/status` says of the Nodes of a remote. `gated`: their endpoints are used last. */
export type TunnelsStatus = { readonly remote: string; readonly silent: readonly string[]; readonly gated: boolean };

type Announcer = { readonly uid: string; readonly annotations: Readonly<Record<string, string>> };

const NOTHING: ReadonlySet<string> = new Set();

/** Which Nodes of remotes don't answer, as the agents of semaphore-wireguard say on the Nodes of the local cluster. */
export class LocalTunnels {
  readonly #options: LocalTunnelsOptions;
  readonly #nodes: Watched<typeof nodeKind, Announcer>;
  readonly #wanted = Promise.withResolvers<void>();
  /** By name, as last known; undefined: unknown. */
  #known: ReadonlyMap<string, Announcer> | undefined;
  readonly #verdicts = new Map<string, { readonly verdict: Verdict; readonly gated: ReadonlySet<string> }>();
  #isForbidden = false;

  constructor(options: LocalTunnelsOptions) {
    this.#options = options;
    this.#nodes = new Watched<typeof nodeKind, Announcer>({
      client: options.client,
      kind: nodeKind,
      project: announcerOf,
      equal: (a, b) => isDeepStrictEqual(a.annotations, b.annotations),
      idleTimeoutMs: options.options.watchIdleTimeoutMs,
      ...asWhole({ update: () => this.#update(this.#nodes.objects), failed: (error) => this.#failed(error) }),
    });
  }

  /** The Nodes of a remote whose endpoints are used last. The same set until it changes. */
  gated(remote: string): ReadonlySet<string> {
    return this.#verdicts.get(remote)?.gated ?? NOTHING;
  }

  /** What `/status` says; null: the app may not read the Nodes, or has no use for them. */
  status(): readonly TunnelsStatus[] | null {
    const remotes = this.#remotes;
    if (this.#isForbidden || remotes.length === 0) return null;
    return remotes.map(({ settings: { name } }) => {
      const { silent, isRemote } = this.#verdicts.get(name)?.verdict ?? NO_VERDICT;
      return { remote: name, silent, gated: !isRemote };
    });
  }

  /**
   * Reads the Nodes once, before anything is decided: a Node that is silent must not get traffic at each start. A missing right is
   * no reason to wait.
   *
   * @throws the signal's reason when that is aborted
   */
  async read(running: RunOptions): Promise<void> {
    if (this.#remotes.length === 0) return;
    const { client, log } = this.#options;
    const { objects: nodes, forbidden } = await listUntilAnswered(client, new Codec(nodeKind), {
      ...running,
      log,
      failure: 'silent nodes not read, retrying',
    });
    if (forbidden !== undefined) this.#failed(forbidden);
    this.#update(new Map(nodes.map((node) => [node.metadata.name, announcerOf(node)])));
  }

  /** Watches the Nodes until `signal` is aborted, from when a remote wants it. */
  async run(running: RunOptions): Promise<void> {
    const { signal } = running;
    if (signal.aborted) return;
    signal.addEventListener('abort', () => this.#wanted.resolve(), { once: true });
    this.remotesChanged();
    await this.#wanted.promise;
    if (!signal.aborted) await this.#nodes.run(running);
  }

  /** The config has other remotes. */
  remotesChanged(): void {
    const remotes = this.#remotes;
    if (remotes.length > 0) this.#wanted.resolve();
    for (const name of this.#verdicts.keys()) {
      if (remotes.some(({ settings }) => settings.name === name)) continue;
      this.#verdicts.delete(name);
      this.#options.metrics.silentNodes.remove({ remote: name });
    }
    this.#update(this.#known);
  }

  get #remotes() {
    return this.#options.remotes.all.filter(({ settings }) => settings.gateByTunnel);
  }

  #update(nodes: ReadonlyMap<string, Announcer> | undefined): void {
    if (nodes === undefined) return;
    this.#known = nodes;
    if (this.#nodes.synced) this.#isForbidden = false;
    for (const { settings, state } of this.#remotes) {
      const { name } = settings;
      const verdict = verdictOf(reportsFor(name, nodes));
      state.skipped.replace('tunnels', this.#isForbidden ? [FORBIDDEN] : diagnosticsOf(verdict));
      this.#options.metrics.silentNodes.set({ remote: name }, verdict.silent.length);
      const known = this.#verdicts.get(name)?.verdict;
      if (isDeepStrictEqual(verdict, known)) continue;
      this.#verdicts.set(name, { verdict, gated: verdict.isRemote ? NOTHING : new Set(verdict.silent) });
      if (known === undefined && verdict.silent.length === 0) continue;
      this.#options.log.info({ cluster: name, ...verdict }, 'silent nodes');
      this.#options.enqueueOf(name);
    }
  }

  /** What was known stays. */
  #failed(error: unknown): void {
    if (!isStatus(error, 403)) return;
    this.#isForbidden = true;
    for (const { state } of this.#remotes) state.skipped.replace('tunnels', [FORBIDDEN]);
  }
}

const FORBIDDEN: Diagnostic = {
  kind: 'problem',
  reason: 'tunnels-unknown',
  detail:
    "it has gateByTunnel, but the Nodes of the local cluster can't be listed: which of its nodes are silent is unknown",
};

const announcerOf = ({ metadata: { uid, annotations } }: Node): Announcer => ({
  uid,
  annotations: Object.fromEntries(
    Object.entries(annotations).filter(
      ([key]) => key.endsWith(`${TUNNEL_DOMAIN}/pubKey`) || key.endsWith(`${TUNNEL_DOMAIN}/silent`),
    ),
  ),
});

const reportsFor = (remote: string, nodes: ReadonlyMap<string, Announcer>): Reports =>
  new Map(
    [...nodes].flatMap(([name, { annotations }]) => {
      if (annotations[pubKeyAnnotation(remote)] === undefined) return [];
      const text = annotations[silentAnnotation(remote)];
      return [[name, text === undefined ? undefined : parseReport(text)] as const];
    }),
  );

/** Five reports of 200 names each would be too long: the first ones are named. */
const MOST_NAMED = 10;

function diagnosticsOf({ silent, isRemote }: Verdict): readonly Diagnostic[] {
  if (silent.length === 0) return [];
  const others = silent.length > MOST_NAMED ? `, and ${silent.length - MOST_NAMED} more` : '';
  const named = `${silent.slice(0, MOST_NAMED).join(', ')}${others}`;
  return isRemote
    ? [
        {
          kind: 'problem',
          reason: 'remote-silent',
          detail: `most of its nodes are silent, so none is avoided: ${named}`,
        },
      ]
    : [{ kind: 'expected', reason: 'node-silent', detail: `endpoints on silent nodes are used last: ${named}` }];
}
