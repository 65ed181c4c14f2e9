import { describe, expect, it } from 'vitest';
import { exported } from '../../../test/mcs/arbitraries.ts';
import { importInput, sliceOf } from '../../../test/mcs/inputs.ts';
import { observedAs } from '../../../test/mcs/observed.ts';
import { parseClusterOrder } from '../../endpoints/desired/routing/order.ts';
import type { RoutingWish } from '../../endpoints/desired/routing/wish.ts';
import { exportPart } from './export-part.ts';
import { desiredImport, type ImportInput } from './import.ts';
import type { ImportObjects } from './objects.ts';
import { retainedExports } from './retained.ts';

function wishOf(text: string): RoutingWish {
  const order = parseClusterOrder(text);
  if (!order.ok) throw new Error(order.reason);
  return { order: order.value, minReady: undefined };
}

/** A cluster with one endpoint; c1 is the oldest. */
function cluster(name: string, { wish, headless = false }: { wish?: RoutingWish; headless?: boolean } = {}) {
  const slice = sliceOf('web-1');
  const endpoints = slice.endpoints.map((endpoint) => ({ ...endpoint, address: `${name}-0` }));
  const definition = exported(name, { definition: { headless } });
  return { ...definition, createdAt: Number(name.slice(1)), wish, slices: [{ ...slice, endpoints }] };
}

const order = wishOf('c3; local; *');
const all = (more: Parameters<typeof cluster>[1] = {}) => [cluster('c1', more), cluster('c2'), cluster('c3')];

function wantedOf(input: ImportInput): ImportObjects {
  const { wanted } = desiredImport(input);
  if (typeof wanted === 'string') throw new Error(wanted);
  return wanted;
}

/** The conditions as digits and the hints of each cluster's endpoint. */
const rolesIn = ({ slices }: ImportObjects) =>
  Object.fromEntries(
    slices.map(({ labels, endpoints: [endpoint] }) => {
      const { conditions, zones = ['none'] } = endpoint!;
      const digits = [conditions.ready, conditions.serving, conditions.terminating].map(Number).join('');
      return [labels['multicluster.kubernetes.io/source-cluster'], `${digits} ${zones.join()}`];
    }),
  );

const inOrder = { c3: '110 a', c1: '110 remote', c2: '011 remote' };

describe('an import with an order of clusters', () => {
  it('has the one of the oldest export, with the conditions and hints of each role', () => {
    const wanted = wantedOf(importInput(all({ wish: order })));
    expect(rolesIn(wanted)).toEqual(inOrder);
    expect(wanted.serviceImport.annotations).toMatchObject({ 'semaphore.uw.io/cluster-order': 'c3; local; *' });
    expect(wanted.service!.annotations).toMatchObject({ 'service.kubernetes.io/topology-mode': 'auto' });
  });

  it('has that of the config, if there is one', () => {
    const routing = { ...importInput([]).routing, order: wishOf('c2; c1').order };
    const input = importInput(all({ wish: order }), { routing });
    expect(rolesIn(wantedOf(input))).toEqual({ c2: '110 a', c1: '110 remote' });
    expect(desiredImport(input).diagnostics.map((each) => `${each.cluster} ${each.reason}`)).toEqual([
      'c3 not-in-order',
    ]);
  });

  it('has only the first level in DNS if it is headless', () => {
    const exports = all({ wish: order, headless: true });
    expect(rolesIn(wantedOf(importInput(exports)))).toEqual({ ...inOrder, c1: '011 remote' });
  });

  it('keeps it, and the roles, while clusters are unknown; one of them can take over', () => {
    const before = wantedOf(importInput(all({ wish: order })));
    const observed = observedAs(before);
    const slices = before.slices.map((slice) => ({ ...slice, uid: 'u', resourceVersion: '1', owners: [] }));
    const retained = retainedExports({ observed, slices }, ['c1', 'c2']);
    expect(rolesIn(wantedOf(importInput([cluster('c3')], { retained })))).toEqual(inOrder);
    const lost = { ...cluster('c3'), slices: [] };
    expect(rolesIn(wantedOf(importInput([lost], { retained })))).toEqual({ c1: '110 a', c2: '110 remote' });
  });
});

describe('an import of an app with localFirst', () => {
  const local = (exports: Parameters<typeof importInput>[0]) => wantedOf(importInput(exports, { localFirst: true }));

  it('prefers local endpoints', () => {
    const wanted = local(all());
    expect(rolesIn(wanted)).toEqual({ c1: '110 a', c2: '110 remote', c3: '110 remote' });
    expect(wanted.serviceImport.annotations).toMatchObject({ 'semaphore.uw.io/cluster-order': 'local; *' });
  });

  it('has the order of its exports, if they have one', () => {
    expect(rolesIn(local(all({ wish: order })))).toEqual(inOrder);
  });

  it('has the names of all Pods if it is headless', () => {
    expect(rolesIn(local(all({ headless: true })))).toEqual({ c1: '110 none', c2: '110 none', c3: '110 none' });
  });
});

describe('an import without one', () => {
  it('has no annotation, condition or hint of it', () => {
    const wanted = wantedOf(importInput(all()));
    expect(rolesIn(wanted)).toEqual({ c1: '110 none', c2: '110 none', c3: '110 none' });
    const keys = [wanted.serviceImport, wanted.service!, ...wanted.slices].flatMap((each) =>
      Object.keys(each.annotations),
    );
    expect(keys.filter((key) => /order|standby|topology/.test(key))).toEqual([]);
  });
});

it.each([
  { name: 'of the ServiceExport', ofExport: wishOf('c1'), ofService: undefined, want: 'c1' },
  { name: 'of its Service', ofExport: undefined, ofService: wishOf('c2'), want: 'c2' },
  {
    name: 'of the ServiceExport before that of its Service',
    ofExport: wishOf('c1'),
    ofService: wishOf('c2'),
    want: 'c1',
  },
])('an export has the order $name', ({ ofExport, ofService, want }) => {
  const { definition, ...exportedBy } = cluster('c2');
  const { exporter } = exportPart({
    exported: { ...exportedBy, wish: ofExport },
    cluster: 'c2',
    isLocal: false,
    stale: 'no',
    overLimit: undefined,
    service: { own: { service: 'exported' }, definition, wish: ofService },
    slices: [],
  });
  expect(exporter?.wish?.order?.map(({ text }) => text)).toEqual([want]);
});
