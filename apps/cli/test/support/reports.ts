import type { AppStatus, RemoteStatus } from '../../src/clusters/app-status.ts';
import type { AppPod } from '../../src/clusters/report.ts';

const reached = {
  up: true,
  synced: true,
  since: '2026-01-01T00:00:00.000Z',
  lastSync: '2026-01-01T00:00:00.000Z',
  lastError: null,
} as const;

/** What an app says of a remote that is fine; c2 by default. */
export const remoteStatus = (remote: Partial<RemoteStatus> = {}): RemoteStatus => ({
  name: 'c2',
  ...reached,
  objects: { nodes: 1 },
  heldDeletions: 0,
  skipped: [],
  config: { allowedPodCIDRs: ['10.4.0.0/16'] },
  ...remote,
});

type PodOptions = Pick<AppPod, 'app'> & {
  readonly name?: string;
  readonly node?: string;
  readonly ready?: boolean;
  readonly version?: string;
  readonly leader?: boolean;
  readonly config?: AppStatus['config'];
  readonly remotes?: RemoteStatus[];
  readonly localServices?: AppStatus['localServices'];
  readonly names?: AppStatus['names'];
  readonly drains?: AppStatus['drains'];
  readonly orders?: AppStatus['orders'];
  readonly inventory?: AppStatus['inventory'];
};

/** A Pod of an app, which is fine. */
export const appPod = ({
  app,
  name = `${app}-0`,
  node = 'n1',
  ready = true,
  version = '0.1.0',
  leader = true,
  config = {},
  remotes = [],
  localServices,
  names,
  drains,
  orders,
  inventory,
}: PodOptions): AppPod & { readonly status: object } => ({
  app,
  namespace: 'kube-system',
  name,
  node,
  account: app,
  ready,
  status: {
    schemaVersion: '1',
    app,
    version,
    ...(app === 'semaphore-wireguard' ? {} : { leader }),
    local: reached,
    config,
    remotes,
    localServices,
    names,
    drains,
    orders,
    inventory,
  },
});
