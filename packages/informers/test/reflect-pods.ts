import { type Connection, connect } from '@kube-semaphore/cluster-auth';
import { KubeClient } from '@kube-semaphore/kube-client';
import { podKind } from '@kube-semaphore/kube-objects';
import { type Change, Reflector, type ReflectorOptions, Store } from '../src/index.ts';

export type Seen = { readonly uid: string; readonly ips: readonly string[] };

type Overrides = Partial<
  Pick<
    ReflectorOptions<typeof podKind, Seen>,
    | 'watchList'
    | 'fieldSelector'
    | 'idleTimeoutMs'
    | 'initialEventsIdleMs'
    | 'pollIntervalMs'
    | 'budget'
    | 'hooks'
    | 'random'
    | 'sleep'
    | 'now'
  >
> & {
  /** The idle timeout of requests other than watches. */
  readonly requestIdleMs?: number;
};

/** For tests that count what a reflector does: a busy machine must not look like a silent server. */
export const LONG_TIMEOUTS = { requestIdleMs: 90_000, initialEventsIdleMs: 90_000, idleTimeoutMs: 90_000 } as const;

/** Connects with a kubeconfig. The caller closes the connection. */
export function connectTo(kubeconfig: string): Promise<Connection> {
  return connect({ kind: 'kubeconfig', path: kubeconfig }, { env: {}, log: { info: () => {}, warn: () => {} } });
}

/** Runs a reflector of all Pods, with short timeouts and without jitter, and records what it reports. */
export function reflectPods(connection: Connection, { requestIdleMs = 2_000, ...overrides }: Overrides = {}) {
  const restarts: string[] = [];
  const changes: Change<Seen>[] = [];
  const requests: string[] = [];
  const store = new Store<Seen>({
    equal: (a, b) => a.ips.join() === b.ips.join(),
    onChange: (change) => changes.push(change),
  });
  const reflector = new Reflector({
    client: new KubeClient({
      connection,
      userAgent: 'test',
      idleTimeoutMs: requestIdleMs,
      onRequest: ({ verb }) => requests.push(verb),
    }),
    kind: podKind,
    watchList: 'auto',
    project: ({ metadata, status: { podIPs } }) => ({ uid: metadata.uid, ips: podIPs.map(({ ip }) => ip) }),
    store,
    idleTimeoutMs: 300,
    initialEventsIdleMs: 300,
    pollIntervalMs: 100,
    random: () => 0,
    hooks: { onRestart: ({ reason }) => restarts.push(reason) },
    ...overrides,
  });
  const aborter = new AbortController();
  const done = reflector.run({ signal: aborter.signal });
  return {
    reflector,
    store,
    /** Reasons, oldest first. */
    restarts,
    changes,
    /** Verbs, oldest first. */
    requests,
    /** Addresses by `namespace/name`; empty while unsynced. */
    addresses: (): Record<string, readonly string[]> => {
      const { view } = store;
      if (!view.synced) return {};
      return Object.fromEntries([...view.objects.keys()].toSorted().map((key) => [key, view.objects.get(key)!.ips]));
    },
    stop: () => (aborter.abort(), done),
  };
}
