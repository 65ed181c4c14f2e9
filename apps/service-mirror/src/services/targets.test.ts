import { describe, expect, it } from 'vitest';
import { parseClusterOrder } from '../endpoints/desired/routing/order.ts';
import type { SourceService, SourceSlice } from '../endpoints/desired/source.ts';
import { RoutingStates } from '../endpoints/routing-states.ts';
import { Targets } from './targets.ts';

const definition = {
  headless: false,
  families: ['IPv4'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined }],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
} as const;

const KEY = 'global/shop/web';

/** Two clusters with a Service of two endpoints; the readiness of those of `c1` can change. */
function start({ order: text, minReady }: { order: string; minReady?: number }) {
  let nowMs = 0;
  const ready = new Map([
    ['c1', 2],
    ['c2', 2],
  ]);
  const order = parseClusterOrder(text);
  const service: SourceService = {
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    createdAt: 0,
    definition,
    hasSelector: true,
    localFirst: false,
    wish: {
      order: order.ok ? order.value : undefined,
      minReady: minReady === undefined ? undefined : { count: minReady },
    },
  };
  const sliceOf = (cluster: string): SourceSlice => ({
    uid: 'u',
    namespace: 'shop',
    name: 'web-a',
    service: 'web',
    family: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, appProtocol: undefined }],
    endpoints: [0, 1].map((i) => ({
      address: `${cluster}-${i}`,
      otherAddresses: undefined,
      conditions: { ready: i < ready.get(cluster)!, serving: i < ready.get(cluster)!, terminating: false },
      hostname: undefined,
      nodeName: undefined,
      zone: undefined,
      zones: undefined,
    })),
  });
  const all = ['c1', 'c2'].map((cluster) => ({
    cluster,
    settled: true,
    stale: 'no' as const,
    source: () => ({ view: () => ({ known: true, service, slices: [sliceOf(cluster)], skipped: [] }) }),
  }));
  const settings = {
    mirrorNamespace: 'sys',
    local: { name: 'c1', properties: new Map() },
    global: { slicesSync: true, hints: 'labelled', clusterOrder: new Map() },
  } as unknown as ConstructorParameters<typeof Targets>[0]['settings'];
  const states = new RoutingStates(() => nowMs);
  const targets = new Targets({
    settings,
    remotes: { all: [{ settings: { name: 'c2', prefix: 'c2', properties: new Map() } }] },
    local: { service: () => undefined, slices: () => [] },
    clusters: { all, families: undefined, get: (name) => all.find(({ cluster }) => cluster === name) },
    keys: { overBudget: () => [], wasSeen: () => true } as never,
    zones: { zones: ['a'], haveAllNodes: true },
    properties: { found: new Map() },
    drains: { clusters: new Set<string>() },
    tunnels: { gated: () => new Set<string>() },
    states,
  });
  return {
    states,
    set: (cluster: string, count: number) => void ready.set(cluster, count),
    wait: (ms: number) => void (nowMs += ms),
    /** The cluster that is preferred: it has the hints of local zones. */
    preferred: () => {
      const { wanted } = targets.target(KEY)!;
      const slices = typeof wanted === 'string' ? [] : wanted.slices;
      return slices
        .filter(({ endpoints }) => endpoints.some(({ zones }) => zones?.includes('a') === true))
        .map(({ labels }) => labels['mirror-endpointslice-sync-name']);
    },
  };
}

describe('Targets', () => {
  it('remember which level is down by min-ready, and when it is due to be up again', () => {
    const { states, set, wait, preferred } = start({ order: 'c1; c2', minReady: 2 });
    expect(preferred()).toEqual(['c1']);
    set('c1', 1);
    expect(preferred()).toEqual(['c2']);
    set('c1', 2);
    expect(preferred()).toEqual(['c2']);
    wait(29_999);
    expect(states.dueKeys()).toEqual([]);
    wait(1);
    expect(states.dueKeys()).toEqual([KEY]);
    expect(preferred()).toEqual(['c1']);
    expect(states.dueKeys()).toEqual([]);
  });

  it('remember nothing without min-ready', () => {
    const { set, preferred } = start({ order: 'c1; c2' });
    expect(preferred()).toEqual(['c1']);
    set('c1', 0);
    expect(preferred()).toEqual(['c2']);
    set('c1', 1);
    expect(preferred()).toEqual(['c1']);
  });
});
