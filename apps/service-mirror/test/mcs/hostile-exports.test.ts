import type { EmbeddedCluster, KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { type SetMember, startSet } from '../support/mcs/cluster-set.ts';
import type { Slice } from '../support/slices.ts';

const SHARED = Array.from({ length: 20 }, (_, i) => `web-${i}`);
const EXPORTS = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceexports';
const SERVICES = '/api/v1/namespaces/shop/services';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices';
const ORDERS = ['c1; c2', 'c2; c1'];
const PORTS = [
  { name: 'http', port: 80 },
  { name: 'own', port: 81 },
];

type Exported = {
  readonly names: readonly string[];
  /** Of each Service. The first one is `<name>-x1`. */
  readonly slices: number;
  /** What its addresses begin with. */
  readonly network: string;
  readonly ports?: readonly object[];
};

const exported = ({ names, slices, network, ports }: Exported): KubeObject[] =>
  names.flatMap((name, of) => {
    const at = { name, namespace: 'shop' };
    return [
      service({ ...at, ...(ports && { ports }) }),
      { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata: at, spec: {} },
      ...Array.from({ length: slices }, (_, i) => {
        const endpoints = [`${network}.${of % 250}.${(i % 250) + 1}`];
        return endpointSlice({ ...at, name: `${name}-x${i + 1}`, service: name, endpoints });
      }),
    ];
  });

/** What a cluster has of an import, ready or not. */
async function slicesOf({ cluster }: SetMember, name: string, source: string): Promise<readonly Slice[]> {
  const selector = `multicluster.kubernetes.io/service-name=${name},multicluster.kubernetes.io/source-cluster=${source}`;
  return (await cluster.admin.list(`${SLICES}?labelSelector=${encodeURIComponent(selector)}`)) as unknown as Slice[];
}

const it = test.extend('set', async ({ task }, { onCleanup }) => {
  const set = await startSet({ names: ['c1', 'c2', 'c3'] });
  onCleanup(async () => {
    if (task.result?.state === 'fail') console.error(set.output().join('\n'));
    await set.stop();
  });
  const [c1, c2, c3] = set.members as [(typeof set.members)[0], (typeof set.members)[0], (typeof set.members)[0]];
  return { c1, c2, c3, path: set.path };
});

describe('a remote that changes without end what it shares', () => {
  it.for([
    {
      what: 'who answers, as the oldest',
      change: async ({ admin }: EmbeddedCluster, name: string, round: number) => {
        const annotations = { 'semaphore.uw.io/cluster-order': ORDERS[round % 2] };
        await admin.request('PATCH', `${EXPORTS}/${name}`, { metadata: { annotations } });
      },
    },
    {
      what: 'whether it has a part',
      change: async ({ admin }: EmbeddedCluster, name: string, round: number) => {
        if (round % 2 === 0) await admin.delete(`${SERVICES}/${name}`);
        else await admin.create(SERVICES, service({ name, namespace: 'shop', ports: PORTS }));
      },
    },
  ])('spends no budget of another, and delays none of its endpoints: $what', async ({ change }, { set }) => {
    const { c1, c2, c3 } = set;
    const [hostile, honest] = [c1.cluster as EmbeddedCluster, c2.cluster as EmbeddedCluster];
    hostile.seed(exported({ names: [...SHARED, 'quiet'], slices: 5, network: '10.4', ports: PORTS }));
    honest.seed(exported({ names: [...SHARED, 'quiet'], slices: 1, network: '10.5' }));
    // They use the most of its budget.
    honest.seed(exported({ names: ['alone'], slices: 600, network: '10.6' }));
    await c3.start({ flags: ['-max-remote-writes=1', '-min-write-interval=1ms'] });
    await eventually(() => c3.importedFrom('quiet'), ['c1', 'c2']);
    await eventually(() => c3.importedFrom('alone'), ['c2']);
    const isOver = (remote: string) =>
      c3.mirror.metric('semaphore_service_mirror_remote_over_budget', { remote, budget: 'writes' });
    const attack = { isOn: true };
    const attacking = (async () => {
      for (let round = 0; attack.isOn; round++) await Promise.all(SHARED.map((name) => change(hostile, name, round)));
    })();
    try {
      await eventually(async () => (await isOver('c2')) === 1 || (await isOver('global')) === 1, true);
      for (const name of ['web-0', 'quiet', 'alone']) await c2.setEndpoints(name, ['10.5.250.1']);
      const addresses = async (name: string) =>
        (await slicesOf(c3, name, 'c2')).flatMap(({ endpoints }) => endpoints?.flatMap((each) => each.addresses));
      for (const name of ['web-0', 'quiet', 'alone'])
        await eventually(async () => (await addresses(name)).includes('10.5.250.1'), true);
      expect([await isOver('c2'), await isOver('global')]).toEqual([0, 1]);
    } finally {
      attack.isOn = false;
      await attacking;
    }
  });
});

it('imports what another remote changes before the hundreds that one exports at once', async ({ set }) => {
  const { c1, c2, c3, path } = set;
  const names = Array.from({ length: 300 }, (_, i) => `many-${i}`);
  await c2.export('web', ['10.5.0.1']);
  await c3.start();
  await eventually(() => c3.addresses('web'), { c2: ['10.5.0.1'] });
  const imports = async () => (await c3.cluster.admin.list(EXPORTS.replace('exports', 'imports'))).length;
  // As of a real API server, whose writes take time.
  await path('c3', 'c3').set({ kind: 'delay', requestMs: 500, chunkMs: 0 }, { verb: 'create' });
  (c1.cluster as EmbeddedCluster).seed(exported({ names, slices: 1, network: '10.4' }));
  await eventually(async () => (await imports()) > 1, true, { intervalMs: 5 });
  await c2.setEndpoints('web', ['10.5.0.2']);
  await eventually(() => c3.addresses('web'), { c2: ['10.5.0.2'] }, { intervalMs: 5 });
  expect(await imports()).toBeLessThan(names.length / 2);
  await path('c3', 'c3').clear();
  await eventually(imports, names.length + 1);
});

describe('a headless export', () => {
  const endpointsOf = (network: string, count: number, hostname: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => ({
      addresses: [`${network}.${i >> 8}.${i & 255}`],
      hostname: hostname(i),
      conditions: { ready: true, serving: true, terminating: false },
    }));

  it.for([
    { what: 'that Pods of another have', hostname: (i: number) => `db-${i % 3}` },
    { what: 'that are all the same', hostname: () => 'db-0' },
    { what: 'of 63 letters', hostname: (i: number) => `${'a'.repeat(59)}${String(i).padStart(4, '0')}` },
  ])('changes nothing of another by a thousand hostnames $what', async ({ hostname }, { set }) => {
    const { c1, c2, c3 } = set;
    const at = { name: 'db', namespace: 'shop', headless: true };
    for (const [member, network] of [
      [c1, '10.4'],
      [c2, '10.5'],
    ] as const) {
      await member.cluster.admin.create(SERVICES, service(at));
      const endpoints = endpointsOf(network, 3, (i) => `db-${i}`);
      await member.cluster.admin.create(SLICES, endpointSlice({ ...at, name: 'db-x1', service: 'db', endpoints }));
      await member.createExport('db');
    }
    await c3.start();
    await eventually(() => c3.importedFrom('db'), ['c1', 'c2']);
    const before = await slicesOf(c3, 'db', 'c2');
    expect(before[0]?.endpoints?.map(({ hostname: each }) => each)).toEqual(['db-0', 'db-1', 'db-2']);
    const endpoints = endpointsOf('10.4', 1_000, hostname);
    expect((await c1.cluster.admin.request('PATCH', `${SLICES}/db-x1`, { endpoints })).status).toBe(200);
    await eventually(async () => (await slicesOf(c3, 'db', 'c1'))[0]?.endpoints?.length, 1_000);
    expect(await slicesOf(c3, 'db', 'c2')).toEqual(before);
  });
});
