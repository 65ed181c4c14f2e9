import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { service } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { NO_SETTINGS, type Settings } from '../subject.ts';
import {
  CONFIG_MAPS,
  inForce,
  inOrder,
  isExportedHere,
  meshOf,
  shownOrderOf,
  type SourceSlice,
  wishOf,
} from './orders.ts';

const ALL = ['c1', 'c2', 'c3'];

function meshWith({ drained = [], said = NO_SETTINGS }: { drained?: readonly string[]; said?: Settings } = {}) {
  const drains = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'semaphore-drains', namespace: 'mirrors', uid: 'u', resourceVersion: '1' },
    data: Object.fromEntries(drained.map((cluster) => [cluster, ''])),
  };
  return meshOf({ c1: { [CONFIG_MAPS]: [drains] } }, ['c2', 'c3'], { said, namespace: 'mirrors' });
}

const regions = (c2: string, c3: string): Settings => ({
  remotes: { c2: { properties: { region: c2 } }, c3: { properties: { region: c3 } } },
  rest: {},
});

/** A slice for each character: `r`eady, `t`erminating, or `n`ot serving. */
const slicesOf = (cluster: string, states: string, addressType = 'IPv4'): readonly SourceSlice[] =>
  states.split('').map((state, nth) => ({
    cluster,
    addressType,
    endpoints: [
      {
        addresses: [`${cluster} ${nth}`],
        ready: state === 'r',
        serving: state !== 'n',
        terminating: state === 't',
      },
    ],
  }));

type Row = {
  readonly name: string;
  readonly order?: string;
  readonly minReady?: string;
  /** Of c1, c2 and c3. */
  readonly states?: readonly [string, string, string];
  readonly headless?: boolean;
  readonly hinted?: boolean;
  readonly drained?: readonly string[];
  readonly said?: Settings;
  readonly want: readonly string[];
};

it.each<Row>([
  { name: 'is all clusters, without an order', want: ['c1 ready', 'c2 ready', 'c3 ready'] },
  {
    name: 'is local first, without an order but with hints',
    hinted: true,
    want: ['c1 ready z1', 'c2 ready remote', 'c3 ready remote'],
  },
  {
    name: 'is the first two levels',
    order: 'c3; local; *',
    want: ['c1 ready remote', 'c2 standby remote', 'c3 ready z1'],
  },
  {
    name: 'is the next level if none is ready',
    order: 'local; c2; c3',
    states: ['nt', 'r', 'r'],
    want: ['c1 n remote', 'c1 t remote', 'c2 ready z1', 'c3 ready remote'],
  },
  { name: 'is no cluster that no level has', order: 'c9; c2', want: ['c2 ready z1'] },
  {
    name: 'is a level with enough endpoints',
    order: 'local; c2; c3',
    minReady: '2',
    states: ['r', 'rr', 'rr'],
    want: ['c1 standby remote', 'c2 ready z1', 'c2 ready z1', 'c3 ready remote', 'c3 ready remote'],
  },
  {
    name: 'is the best with any, if no level has enough',
    order: 'local; c2; c3',
    minReady: '2',
    states: ['n', 'r', 'r'],
    want: ['c1 n remote', 'c2 ready z1', 'c3 ready remote'],
  },
  {
    name: 'counts a share of those that stay',
    order: 'local; c2',
    minReady: '60%',
    states: ['rntt', 'rrn', ''],
    want: ['c1 ready remote', 'c1 n remote', 'c1 t remote', 'c1 t remote', 'c2 ready z1', 'c2 ready z1', 'c2 n remote'],
  },
  {
    name: 'is by properties',
    order: 'region=same; *',
    said: regions('us', 'eu'),
    want: ['c1 ready z1', 'c2 ready remote', 'c3 ready z1'],
  },
  {
    name: 'is not by a property of none',
    order: 'zone=a, region=us; *',
    said: regions('us', 'eu'),
    want: ['c1 ready remote', 'c2 ready z1', 'c3 ready remote'],
  },
  {
    name: 'is one level in DNS',
    order: 'local; c2; c3',
    headless: true,
    want: ['c1 ready z1', 'c2 standby remote', 'c3 standby remote'],
  },
  { name: 'is not a drained cluster', drained: ['c2'], want: ['c1 ready', 'c2 standby', 'c3 ready'] },
  {
    name: 'is not a drained cluster of an order',
    order: 'c2; local; c3',
    drained: ['c2'],
    want: ['c1 ready z1', 'c2 standby remote', 'c3 ready remote'],
  },
  {
    name: 'is a drained cluster if no other is ready',
    drained: ['c2'],
    states: ['n', 'r', 't'],
    want: ['c1 n', 'c2 ready', 'c3 t'],
  },
  {
    name: 'is the best of drained clusters',
    order: 'c3; *',
    drained: ALL,
    want: ['c1 standby remote', 'c2 standby remote', 'c3 ready z1'],
  },
  {
    name: 'is one with too few before a drained one',
    order: 'local; *',
    minReady: '3',
    drained: ['c2'],
    states: ['r', 'rrr', ''],
    want: ['c1 ready z1', ...Array.from({ length: 3 }, () => 'c2 standby remote')],
  },
])('$name answers', ({ states = ['r', 'r', 'r'], headless = false, hinted = false, drained, said, want, ...wish }) => {
  const slices = ALL.flatMap((cluster, nth) => slicesOf(cluster, states[nth]!));
  const { order, minReady } = wish;
  const asked = { ...(order !== undefined && { order }), ...(minReady !== undefined && { minReady }) };
  const found = inOrder(
    slices,
    { clusters: ALL, headless, hinted, ...asked },
    meshWith({ ...(drained && { drained }), ...(said && { said }) }),
  );
  const texts = found.map(({ cluster, endpoints: [each], standby }) => {
    const { ready, serving, zones = [] } = each!;
    return [cluster, standby ? 'standby' : ready ? 'ready' : serving ? 't' : 'n', ...zones].join(' ');
  });
  expect(texts).toEqual(want);
});

it('counts a Pod with two addresses once', () => {
  const slices = [...slicesOf('c2', 'r'), ...slicesOf('c2', 'r', 'IPv6'), ...slicesOf('c3', 'rr')];
  const asked = { clusters: ['c2', 'c3'], headless: false, hinted: false, order: 'c2; c3', minReady: '2' };
  expect(inOrder(slices, asked, meshWith()).map(({ endpoints: [each] }) => each!.zones)).toEqual([
    ['remote'],
    ['remote'],
    ['z1'],
    ['z1'],
  ]);
});

it.each([
  { list: undefined, want: true },
  { list: '*', want: true },
  { list: 'c9, c1', want: true },
  { list: 'region=eu', want: true },
  { list: 'c2, region=us', want: false },
  { list: '', want: false },
])('an export to $list is for us: $want; our own always', ({ list, want }) => {
  const object = exported(list);
  expect(['c2', 'c1'].map((cluster) => isExportedHere(object, cluster))).toEqual([want, true]);
});

function exported(list: string | undefined): KubeObject {
  return service({ name: 'web', ...(list !== undefined && { annotations: { 'semaphore.uw.io/export-to': list } }) });
}

it('takes the order of the file before that of the Service, with the min-ready of the Service', () => {
  const wish = { order: 'c3', minReady: '2' };
  const said = (clusterOrder: unknown): Settings => ({ remotes: {}, rest: { global: { clusterOrder } } });
  const orderOf = (clusterOrder: unknown, at: string) =>
    inForce(meshWith({ said: said(clusterOrder) }), 'global', { at, wish, otherwise: '*' });
  expect(orderOf({ 'shop/web': 'c2' }, 'shop/web')).toEqual({ order: 'c2', minReady: '2' });
  expect(orderOf({ 'shop/web': 'c2' }, 'shop/api')).toEqual(wish);
  expect(orderOf('local', 'shop/api')).toEqual({ order: 'local', minReady: '2' });
  expect(inForce(meshWith(), 'mcs', { at: 'shop/web', wish: undefined, otherwise: '*' })).toEqual({ order: '*' });
});

it('ignores an order with too many levels', () => {
  const of = (order: string) => service({ name: 'web', annotations: { 'semaphore.uw.io/cluster-order': order } });
  const invalid = [...Array.from({ length: 16 }, () => 'c2'), '*'].join('; ');
  expect([wishOf(of('c2; *')), wishOf(of(invalid)), shownOrderOf(of('c2; *')), shownOrderOf(of(invalid))]).toEqual([
    { order: 'c2; *' },
    undefined,
    'c2; * ',
    '',
  ]);
});
