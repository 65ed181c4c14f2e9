import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, pod, service } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { NO_SETTINGS } from '../subject.ts';
import { NAMESPACES, POLICIES } from './companions.ts';
import { policy, writes } from './policy.ts';
import { serviceMirror } from './service-mirror.ts';

const NAME = 'semaphore.uw.systems/name';

const podOf = (namespace: string, app: string, ips: string[], more: object = {}): KubeObject =>
  pod({ name: 'p', namespace, labels: { [NAME]: app }, ips, ...more });

const PODS = '/api/v1/pods';

const setsOf = (...pods: readonly KubeObject[]): object => {
  const remote = { [PODS]: pods, [NAMESPACES]: [], [POLICIES]: [] };
  return policy.wanted({ c1: { ...remote, [PODS]: [] }, c2: remote, c3: remote }, ['c2'], NO_SETTINGS);
};

describe('the sets of policy', () => {
  it.each([
    { name: 'an allowed address', pods: [podOf('shop', 'web', ['10.4.1.1'])], nets: ['10.4.1.1/32'] },
    {
      name: 'both families',
      pods: [podOf('shop', 'web', ['10.4.1.1', 'fd00:4::1'])],
      nets: ['10.4.1.1/32', 'fd00:4::1/128'],
    },
    {
      name: 'two Pods with one address',
      pods: [podOf('shop', 'web', ['10.4.1.1']), podOf('shop', 'web', ['10.4.1.1'])],
      nets: ['10.4.1.1/32'],
    },
  ])('have $name', ({ pods, nets }) => {
    expect(setsOf(...pods)).toEqual({ 'c2/shop/web': { name: 'c2-shop-web', nets, tooLarge: [] } });
  });

  it('lack what is skipped', () => {
    expect(
      setsOf(
        podOf('shop', 'web', ['10.9.0.1']),
        podOf('shop', 'web', []),
        podOf('shop', 'web', ['10.4.1.1'], { phase: 'Succeeded' }),
        podOf('shop', 'web', ['10.4.1.2'], { hostNetwork: true }),
        pod({ name: 'p', namespace: 'shop', ips: ['10.4.1.3'] }),
      ),
    ).toEqual({});
  });

  it('have a suffix where two workloads make one name, where it is not valid, or where it is taken', () => {
    const ip = ['10.4.1.1'];
    const sets = setsOf(
      podOf('a-b', 'c', ip),
      podOf('a', 'b-c', ip),
      podOf('shop', 'My_App', ip),
      podOf('shop', 'taken', ip),
    );
    expect(Object.values(sets).map(({ name }: { name: string }) => name.replace(/[0-9a-f]{10}$/, '…'))).toEqual([
      'c2-a-b-c-…',
      'c2-a-b-c',
      'c2-shop-my-app-…',
      'c2-shop-taken-…',
    ]);
  });
});

describe('the companions of policy', () => {
  const CLUSTER = 'cluster.clusterset.k8s.io';
  const K8S_NAME = 'kubernetes.io/metadata.name';
  const db = { matchLabels: { app: 'db' } };
  const object = (name: string, more: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name, uid: name, resourceVersion: '1', ...more },
  });
  const policyOf = (...ingress: readonly object[]): KubeObject => ({
    ...object('db', { namespace: 'shop' }),
    spec: { podSelector: db, policyTypes: ['Ingress'], ingress },
  });
  const onPort80 = (from: readonly object[]): object => ({ from, ports: [{ protocol: 'TCP', port: 80 }] });
  const namespaceOf = (name: string, labels: object = {}): KubeObject =>
    object(name, { labels: { [K8S_NAME]: name, ...labels } });
  const remoteOf = (digit: number) => ({
    [PODS]: [podOf('shop', 'web', [`10.${digit}.0.1`]), podOf('a', 'api', [`10.${digit}.0.2`])],
    [NAMESPACES]: [namespaceOf('shop', { team: 'one' }), namespaceOf('a', { [CLUSTER]: 'c1' })],
    [POLICIES]: [],
  });
  const opened = (...ingress: readonly object[]): object => {
    const state = {
      c1: { [PODS]: [], [NAMESPACES]: [], [POLICIES]: [policyOf(...ingress)] },
      c2: remoteOf(4),
      c3: remoteOf(5),
    };
    const companions = Object.entries(policy.wanted(state, ['c2', 'c3'], NO_SETTINGS)).filter(([key]) =>
      key.startsWith('db '),
    );
    return Object.fromEntries(companions.map(([key, view]) => [key, (view as { opens: string[] }).opens]));
  };
  const one = (digit: number) => `80/TCP 10.${digit}.0.1/32`;
  const both = (digit: number) => [one(digit), `80/TCP 10.${digit}.0.2/32`];

  it.each([
    { name: 'a peer that names no cluster', from: [{ namespaceSelector: {} }, { podSelector: {} }], want: {} },
    {
      name: 'one cluster',
      from: [{ namespaceSelector: { matchLabels: { [CLUSTER]: 'c2' } } }],
      want: { 'db c2 Ingress': both(4) },
    },
    {
      name: 'every cluster, by the labels of its namespaces',
      from: [
        {
          namespaceSelector: { matchLabels: { team: 'one' }, matchExpressions: [{ key: CLUSTER, operator: 'Exists' }] },
        },
      ],
      want: { 'db c2 Ingress': [one(4)], 'db c3 Ingress': [one(5)] },
    },
    {
      name: 'other clusters, by the labels of their Pods',
      from: [
        {
          namespaceSelector: { matchExpressions: [{ key: CLUSTER, operator: 'NotIn', values: ['c2'] }] },
          podSelector: { matchLabels: { [NAME]: 'web' } },
        },
      ],
      want: { 'db c3 Ingress': [one(5)] },
    },
    {
      name: 'a cluster that a namespace of another one names',
      from: [{ namespaceSelector: { matchLabels: { [CLUSTER]: 'c1' } } }],
      want: {},
    },
  ])('have what is selected by $name', ({ from, want }) => {
    expect(opened(onPort80(from))).toEqual(want);
  });

  it('have no port of what is open on all', () => {
    const from = [{ namespaceSelector: { matchLabels: { [CLUSTER]: 'c2' } } }];
    const open = ['all 10.4.0.1/32', 'all 10.4.0.2/32'];
    expect(opened(onPort80(from), { from })).toEqual({ 'db c2 Ingress': open });
  });

  const companionOf = (
    name: string,
    from: readonly string[],
    { podSelector = db, cluster = 'c2' } = {},
  ): KubeObject => ({
    ...object(name, {
      labels: { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy', 'policy.semaphore.uw.io/cluster': cluster },
      annotations: { 'policy.semaphore.uw.io/source': 'db' },
    }),
    spec: { podSelector, policyTypes: ['Ingress'], ingress: [{ from: from.map((cidr) => ({ ipBlock: { cidr } })) }] },
  });
  const cidrs = ['10.4.0.1/32', '10.4.0.2/32', '10.4.0.3/32', '10.4.0.4/32'] as const;
  const seen = (...objects: readonly KubeObject[]): object =>
    writes.observed({ ...Object.fromEntries(writes.targets.map((path) => [path, []])), [POLICIES]: objects }, ['c2']);

  it('are seen together, without those of other remotes and of users', () => {
    const elsewhere = companionOf('elsewhere', ['10.5.0.1/32'], { cluster: 'c3' });
    expect(seen(companionOf('b', cidrs.slice(3)), companionOf('a', cidrs.slice(0, 3)), elsewhere, policyOf())).toEqual({
      'db c2 Ingress': { podSelector: db, opens: cidrs.map((cidr) => `all ${cidr}`), odd: [] },
    });
  });

  it('are odd with too many addresses, or other Pods than the first', () => {
    const other = { podSelector: { matchLabels: { app: 'other' } } };
    expect(seen(companionOf('a', []), companionOf('large', cidrs), companionOf('other', [], other))).toEqual({
      'db c2 Ingress': {
        podSelector: db,
        opens: [...cidrs.map((cidr) => `all ${cidr}`), 'all everything'],
        odd: ['large', 'other'],
      },
    });
  });
});

describe('the Services of service-mirror', () => {
  const SERVICES = '/api/v1/services';
  const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
  const viewOf = (labels: Record<string, string>, slice: KubeObject, spec: object = {}): Record<string, unknown> => {
    const source = service({ name: 'web', namespace: 'shop', labels, spec: { ...spec } });
    const objects = { [SERVICES]: [source], [SLICES]: [slice] };
    const none = { [SERVICES]: [], [SLICES]: [] };
    return { ...serviceMirror.wanted({ c1: none, c2: objects, c3: objects }, ['c2'], NO_SETTINGS) };
  };
  const sliceOf = (labels: Record<string, string>, ...endpoints: { addresses: string[] }[]): KubeObject =>
    endpointSlice({ name: 'web-a', namespace: 'shop', service: 'web', labels, endpoints });

  it('have the allowed endpoints of their labelled slices, with conditions as they are meant', () => {
    const labels = { mirror: 'true' };
    const view = viewOf(labels, sliceOf(labels, { addresses: ['10.4.0.1'] }, { addresses: ['10.9.0.1'] }));
    expect(Object.keys(view)).toEqual([
      'c2-shop-73736d-web',
      expect.stringMatching(/^c2-shop-73736d-web-[0-9a-f]{20}$/),
    ]);
    expect(Object.values(view)[1]).toMatchObject({
      source: 'c2/shop/web-a',
      endpoints: ['{"addresses":["10.4.0.1"],"conditions":[true,true,false],"hostname":"","zones":[]}'],
    });
  });

  it('lack slices without the labels, unless the Service has no selector', () => {
    const slice = sliceOf({}, { addresses: ['10.4.0.1'] });
    expect(Object.keys(viewOf({ mirror: 'true' }, slice))).toHaveLength(1);
    expect(Object.keys(viewOf({ mirror: 'true' }, slice, { selector: undefined }))).toHaveLength(2);
  });

  it('that are global name their clusters, and hint at the zone of the remote', () => {
    const labels = { global: 'true', near: 'true' };
    const view = viewOf(labels, sliceOf(labels, { addresses: ['10.4.0.1'] }));
    expect(view['gl-shop-73736d-web']).toMatchObject({ source: 'global/shop/web', clusters: 'c2' });
    expect(Object.values(view)[1]).toMatchObject({ endpoints: [expect.stringContaining('"zones":["remote"]')] });
  });
});
