import { familyNamed } from '@kube-semaphore/net';
import * as z from 'zod/mini';

const time = z.string();
const count = z.number();
const cidrs = z.nullish(z.array(z.string()));

/** Null or undefined: both; also of an older app. */
const families = z.nullish(
  z.pipe(
    z.array(z.enum(['ipv4', 'ipv6'])),
    z.transform((names) => names.map(familyNamed)),
  ),
);

const connection = {
  up: z.boolean(),
  since: time,
  synced: z.boolean(),
  lastSync: z.nullable(time),
  lastError: z.nullable(z.object({ time, message: z.string() })),
};

const peer = z.object({
  node: z.nullable(z.string()),
  publicKey: z.string(),
  state: z.enum(['up', 'stale', 'never']),
  endpoint: z.nullable(z.string()),
  handshakeAgeSeconds: z.nullish(z.number()),
  allowedIps: z.array(z.string()),
});

/** Of keys, between a node and a remote. */
const rotation = z.object({
  /** Which of its two devices the node announces. */
  plane: z.union([z.literal(0), z.literal(1)]),
  /** Null: its own key doesn't rotate. */
  since: z.nullable(time),
  /** Nodes of the remote that rotate. */
  rotating: z.array(z.string()),
  laggards: z.array(z.string()),
  /** There are some after ten minutes. */
  late: z.boolean(),
});

const skipped = z.array(
  z.object({
    kind: z.enum(['expected', 'problem']),
    reason: z.string(),
    count,
    /** Undefined: an older app doesn't say. */
    example: z.optional(z.string()),
  }),
);

const remote = z.object({
  name: z.string(),
  ...connection,
  /** Null or undefined: they don't end, the app renews them, or an older app doesn't say. */
  credentials: z.nullish(z.object({ from: time, until: time })),
  objects: z.nullable(z.record(z.string(), count)),
  heldDeletions: count,
  skipped,
  stale: z.optional(z.boolean()),
  config: z.object({
    families,
    allowedPodCIDRs: cidrs,
    podSubnets: cidrs,
    servicePrefix: z.optional(z.string()),
    mtuBytes: z.nullish(count),
    allowedIPsFrom: z.optional(z.string()),
    clusterSetID: z.optional(z.string()),
    labels: z.optional(z.record(z.string(), z.string())),
  }),
  deviceName: z.optional(z.string()),
  refusedPackets: z.nullish(count),
  device: z.nullish(z.object({ publicKey: z.nullable(z.string()), marked: z.boolean() })),
  deviceError: z.optional(z.string()),
  /** Of the first device. For tunnels, use `peersOf`. */
  peers: z.optional(z.array(peer)),
  /** There while keys rotate. */
  secondDevice: z.optional(z.object({ publicKey: z.nullable(z.string()), peers: z.array(peer) })),
  rotation: z.optional(rotation),
  missing: z.optional(z.array(z.string())),
  unrouted: z.optional(z.array(z.string())),
});

const name = z.object({
  /** `global` for a global Service. */
  remote: z.string(),
  name: z.string(),
  /** That of the mirror. */
  address: z.string(),
  /** Undefined: there is an error. */
  answers: z.optional(z.array(z.string())),
  /** `ESERVFAIL`, as in node:dns. */
  error: z.optional(z.string()),
});

const drain = z.object({
  cluster: z.string(),
  /** RFC 3339. Null, here and below: it doesn't say. */
  since: z.nullable(time),
  by: z.nullable(z.string()),
  reason: z.nullable(z.string()),
});

const level = z.object({
  level: z.string(),
  clusters: z.array(z.string()),
  /** Undefined, here and below: no cluster of the level has the Service. */
  role: z.optional(z.enum(['first', 'second', 'standby'])),
  state: z.optional(z.string()),
});

const orders = z.object({
  services: z.object({ best: count, other: count, none: count }),
  moved: z.array(z.object({ service: z.string(), levels: z.array(level) })),
});

const inventory = z.object({
  /** Why it can't be read; null: it can. */
  problem: z.nullable(z.string()),
  profiles: z.array(
    z.object({
      /** `namespace/name`. */
      profile: z.string(),
      controlPlaneHealthy: z.nullable(z.string()),
      /** Why it is no remote; null: it is one. */
      problem: z.nullable(z.string()),
      /** Null: it is not held. */
      heldUntil: z.nullable(time),
    }),
  ),
});

/** What this program reads of the page `/status` of an app. */
const appStatus = z.object({
  schemaVersion: z.literal('1'),
  app: z.string(),
  version: z.string(),
  leader: z.optional(z.boolean()),
  local: z.object(connection),
  config: z.object({
    name: z.optional(z.string()),
    node: z.optional(z.string()),
    mirrorNamespace: z.optional(z.string()),
    mirrorSelector: z.optional(z.string()),
    globalSelector: z.nullish(z.string()),
    networkPolicies: z.optional(z.boolean()),
    /** Null: without Multi-Cluster Services. Undefined: another app, or an older one. */
    mcs: z.nullish(z.object({ namespaces: z.optional(z.array(z.string())) })),
    /** Undefined: another app, or an older one; also of the two maxima. */
    networkPolicySink: z.optional(z.string()),
    maxAddressesPerPolicy: z.optional(count),
    maxAddressesPerSource: z.optional(count),
    clusterSetKey: z.optional(z.string()),
    /** Null: none, so policies can select each Pod. Undefined: another app, or an older one. */
    remotePodSelector: z.nullish(z.string()),
    localCIDRs: cidrs,
  }),
  remotes: z.array(remote),
  /** What DNS says to the Pod. Undefined: another app, or an older one. */
  names: z.optional(z.array(name)),
  /** Null: it can't drain clusters. Undefined: another app, or an older one. */
  drains: z.nullish(z.array(drain)),
  /** Who answers for Services with an order of clusters. Undefined: another app, or an older one. */
  orders: z.optional(orders),
  /** Undefined: the app has none, or is an older one. */
  inventory: z.optional(inventory),
  /** The local cluster, as a source of global Services. */
  localServices: z.optional(z.object({ name: z.string(), skipped })),
});

export type AppStatus = z.infer<typeof appStatus>;
export type PeerStatus = z.infer<typeof peer>;
export type DrainStatus = z.infer<typeof drain>;
export type RemoteStatus = AppStatus['remotes'][number];
export type ResolvedName = NonNullable<AppStatus['names']>[number];

/** From bad to good. */
export const tunnelStates: readonly PeerStatus['state'][] = ['never', 'stale', 'up'];

/**
 * The tunnels of a remote, one for each peer. While keys rotate, there are two devices, and each peer moves from one to the
 * other: then its tunnel is the better one. Undefined: another app, or it is unknown.
 */
export function peersOf({ peers, secondDevice }: Pick<RemoteStatus, 'peers' | 'secondDevice'>) {
  if (peers === undefined || secondDevice === undefined) return peers;
  const tunnels = Map.groupBy([...peers, ...secondDevice.peers], ({ node, publicKey }) => node ?? publicKey);
  return Array.from(tunnels.values(), (same) => same.reduce((best, peer) => (isBetter(peer, best) ? peer : best)));
}

const isBetter = (a: PeerStatus, b: PeerStatus): boolean =>
  tunnelStates.indexOf(a.state) > tunnelStates.indexOf(b.state);

/** The clusters that an app reads, with what it skips of each. */
export const sourcesOf = ({ remotes, localServices }: AppStatus): readonly Pick<RemoteStatus, 'name' | 'skipped'>[] =>
  localServices === undefined ? remotes : [...remotes, localServices];

/** Reads the page `/status`. @throws Error that names the first wrong field */
export function readAppStatus(page: string): AppStatus {
  const parsed = appStatus.safeParse(JSON.parse(page));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
}
