import { describe, expect, it } from 'vitest';
import { globalTarget, type GlobalSource } from './target.ts';
import type { DesiredObjects } from '../../../endpoints/desired/objects.ts';
import type { LocalServices } from '../../../endpoints/desired/target.ts';
import { parseClusterOrder } from '../../../endpoints/desired/routing/order.ts';
import { NO_LEVELS } from '../../../endpoints/desired/routing/who-answers.ts';

const definition = {
  headless: false,
  families: ['IPv4'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined }],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
} as const;

const order = parseClusterOrder('c1; c2; c3');

/** A cluster with one endpoint. The Service of c3, which decides, has the order. */
function source(
  cluster: string,
  { ready = true, known = true }: { ready?: boolean; known?: boolean } = {},
): GlobalSource {
  const service = {
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    createdAt: cluster === 'c3' ? 0 : 1,
    definition,
    hasSelector: true,
    localFirst: false,
    wish: cluster === 'c3' && order.ok ? { order: order.value, minReady: undefined } : undefined,
  };
  const endpoint = {
    address: `${cluster}-0`,
    otherAddresses: undefined,
    conditions: { ready, serving: ready, terminating: false },
    hostname: undefined,
    nodeName: undefined,
    zone: undefined,
    zones: undefined,
  };
  const slice = {
    uid: 'u',
    namespace: 'shop',
    name: 'web-a',
    service: 'web',
    family: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, appProtocol: undefined }],
    endpoints: [endpoint],
  } as const;
  const view = { known, service: known ? service : undefined, slices: known ? [slice] : [], skipped: [] };
  return { cluster, isLocal: cluster === 'c1', stale: 'no', source: view };
}

const NOTHING: LocalServices = { service: () => undefined, slices: () => [] };

/** What was written, as it is observed. */
const observed = ({ service, slices }: DesiredObjects): LocalServices => ({
  service: () => ({
    ...service,
    uid: 'u',
    resourceVersion: '1',
    createdAt: 0,
    familyPolicy: 'SingleStack',
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
  }),
  slices: () => slices.map((slice) => ({ ...slice, uid: 'u', resourceVersion: '1', owners: ['u'] })),
});

function written(clusters: readonly GlobalSource[], local = NOTHING): DesiredObjects {
  const { wanted } = globalTarget(
    { namespace: 'shop', name: 'web' },
    {
      clusters,
      local,
      mirrorNamespace: 'sys',
      families: undefined,
      retainsUnseen: false,
      hints: 'labelled',
      zones: ['a'],
      routing: { local: 'c1', properties: new Map(), order: undefined, hasAllZones: true, down: NO_LEVELS, nowMs: 0 },
    },
  );
  if (typeof wanted === 'string') throw new Error(`the Service is ${wanted}`);
  return wanted;
}

/** The role of each cluster. */
const rolesIn = ({ slices }: DesiredObjects) =>
  Object.fromEntries(
    slices.map(({ labels, endpoints: [endpoint] }) => {
      const { ready, serving } = endpoint!.conditions;
      const role = ready === true ? (endpoint!.zones?.includes('a') === true ? 'first' : 'second') : 'standby';
      return [labels['mirror-endpointslice-sync-name'], serving === true ? role : 'broken'];
    }),
  );

const lost = source('c3', { known: false });

describe('a cluster that is unknown since the start', () => {
  const before = written([source('c1'), source('c2'), source('c3')]);

  it('keeps its role, and the order that it decided', () => {
    expect(rolesIn(before)).toEqual({ c1: 'first', c2: 'second', c3: 'standby' });
    const after = written([source('c1'), source('c2'), lost], observed(before));
    expect(after).toEqual(before);
  });

  it('takes over if all before it are down, and gives the traffic back', () => {
    const [down, up] = [
      [source('c1', { ready: false }), source('c2', { ready: false }), lost],
      [source('c1'), source('c2'), lost],
    ];
    const after = written(down, observed(before));
    expect(rolesIn(after)).toEqual({ c1: 'broken', c2: 'broken', c3: 'first' });
    expect(written(down, observed(after))).toEqual(after);
    expect(written(up, observed(after))).toEqual(before);
  });
});

it('a cluster that no level has gets no slices, and those that it had go', () => {
  const clusters = [source('c1'), source('c4'), source('c3')];
  const with4 = written([source('c1'), source('c4')]);
  const after = written(clusters, observed(with4));
  expect(rolesIn(after)).toEqual({ c1: 'first', c3: 'second' });
  // Its Service still has a part in the definition.
  expect(after.service.annotations['global-svc-clusters']).toBe('c1,c3,c4');
});
