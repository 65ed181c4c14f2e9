import { peersOf, type RemoteStatus } from '../clusters/app-status.ts';
import { type Rotation, rotationOf } from './rotations.ts';
import { type App, type AppPod, apps, type ClusterReport } from '../clusters/report.ts';

/** What an app says of a remote: of its Pods, the worst. `unknown`: no Pod says anything. */
export type State = 'up' | 'stale' | 'not-synced' | 'down' | 'unknown';

/** One direction: an app in `from` that reads `to`. */
export type AppPair = {
  readonly state: State;
  /** By kind; null if unknown. */
  readonly objects: Readonly<Record<string, number>> | null;
  /** When a Pod's connection last changed; null if unknown. */
  readonly since: string | null;
  /** Of the Pod in that state; null if it has none, or recovered. */
  readonly error: string | null;
};

/** What the apps in a cluster have of one remote. */
export type Pair = {
  /** The context. */
  readonly from: string;
  /** The name of the remote in the config of the apps. */
  readonly to: string;
  /** Only apps that have this remote. */
  readonly apps: Readonly<Partial<Record<App, AppPair>>>;
  /** Peers of all nodes; null without semaphore-wireguard. */
  readonly tunnels: { readonly up: number; readonly all: number } | null;
  /** Of keys of WireGuard; null: none runs, or it is unknown. */
  readonly rotation: Rotation | null;
  /** The newest `since`. */
  readonly lastChange: string | null;
};

/** The rotation of a pair that has one. */
export type PairRotation = Pick<Pair, 'from' | 'to'> & { readonly rotation: Rotation };

/** What rotates in all clusters. */
export const rotationsIn = (reports: readonly ClusterReport[]): readonly PairRotation[] =>
  pairsOf(reports).flatMap(({ from, to, rotation }) => (rotation === null ? [] : [{ from, to, rotation }]));

/** From bad to good. */
const severity: readonly State[] = ['down', 'not-synced', 'stale', 'up'];

/** Each cluster with each remote of its apps, in the order of the contexts and the names of remotes. */
export const pairsOf = (reports: readonly ClusterReport[]): readonly Pair[] => reports.flatMap(pairsFrom);

function pairsFrom({ cluster: from, pods }: ClusterReport): readonly Pair[] {
  const remotes = new Set(pods.flatMap(({ status }) => remotesIn(status).map(({ name }) => name)));
  return [...remotes].toSorted().map((to) => {
    const said = pods.flatMap(({ app, status }) =>
      remotesIn(status).flatMap((remote) => (remote.name === to ? [{ app, remote }] : [])),
    );
    const pairs = apps.flatMap((app) => {
      const own = said.filter((each) => each.app === app).map(({ remote }) => remote);
      const isUnread = pods.some((pod) => pod.app === app) && !pods.some((pod) => pod.app === app && isRead(pod));
      if (own.length === 0) return isUnread ? [[app, UNKNOWN] as const] : [];
      return [[app, worstOf(own)] as const];
    });
    const peers = said.flatMap(({ remote }) => peersOf(remote) ?? []);
    const hasTunnels = said.some(({ remote }) => remote.peers !== undefined);
    const changes = pairs.flatMap(([, { since }]) => since ?? []);
    return {
      from,
      to,
      apps: Object.fromEntries(pairs),
      tunnels: hasTunnels ? { up: peers.filter(({ state }) => state === 'up').length, all: peers.length } : null,
      rotation: rotationOf(pods, to),
      lastChange: changes.toSorted().at(-1) ?? null,
    };
  });
}

const UNKNOWN: AppPair = { state: 'unknown', objects: null, since: null, error: null };

const isRead = ({ status }: AppPod): boolean => !('failure' in status);

const remotesIn = (status: AppPod['status']): readonly RemoteStatus[] => ('failure' in status ? [] : status.remotes);

/** Replicas and nodes watch for themselves, so one may reach what another doesn't. */
function worstOf(remotes: readonly RemoteStatus[]): AppPair {
  const [worst] = remotes.toSorted((a, b) => severity.indexOf(stateOf(a)) - severity.indexOf(stateOf(b)));
  if (worst === undefined) return UNKNOWN;
  const state = stateOf(worst);
  return {
    state,
    objects: worst.objects,
    since:
      remotes
        .map(({ since }) => since)
        .toSorted()
        .at(-1) ?? null,
    error: state === 'up' ? null : (worst.lastError?.message ?? null),
  };
}

function stateOf({ up, synced, stale }: RemoteStatus): State {
  if (stale === true) return 'stale';
  if (!up) return 'down';
  return synced ? 'up' : 'not-synced';
}
