import { describe, expect, it } from 'vitest';
import { carryOut, ownersOf } from './carry-out.ts';
import type { Change, Phase } from '../sets/desired/change.ts';
import type { ObservedSet } from '../sets/desired/network-set.ts';
import { setLabels } from '../sets/desired/labels.ts';

const domain = 'pod-name.example.com';
const set = (cluster: string, name: string): ObservedSet => ({
  name,
  uid: name,
  resourceVersion: '1',
  annotations: {},
  ownerReferences: [],
  finalizers: [],
  labels: setLabels({ domain, managedBy: 'x' }, { cluster, namespace: 'ns', app: name }),
  nets: [],
});
const create = (cluster: string, name: string): Change => ({ kind: 'create', to: set(cluster, name) });
const remove = (cluster: string, name: string): Change => ({ kind: 'delete', from: set(cluster, name) });
/** A set passes from one cluster to another. */
const pass = (from: string, to: string, name: string): Change => ({
  kind: 'update',
  from: set(from, name),
  to: set(to, name),
});

/** The writes that are tried, if those of some names aren't made. */
async function run(phases: readonly Phase[], failing: readonly string[] = []): Promise<readonly string[]> {
  const tried: string[] = [];
  const write = async (change: Change): Promise<object | undefined> => {
    const { name } = 'to' in change ? change.to : change.from;
    tried.push(`${change.kind} ${name}`);
    return failing.includes(name) ? undefined : {};
  };
  const clustersOf = (change: Change) => ownersOf(change, [domain]).map(({ cluster }) => cluster);
  const isIndependent = (change: Change) => change.kind === 'delete' && change.from.name.startsWith('independent');
  await carryOut(phases, { clustersOf, isIndependent, write });
  return tried;
}

describe('carryOut', () => {
  it.each([
    {
      name: 'carries out one phase after the other',
      phases: [[create('c2', 'a')], [remove('c2', 'b')]],
      failing: [],
      tried: ['create a', 'delete b'],
    },
    {
      name: 'removes nothing from a cluster after a failed write',
      phases: [[create('c2', 'a')], [remove('c2', 'b')]],
      failing: ['a'],
      tried: ['create a'],
    },
    {
      name: 'continues for the other clusters',
      phases: [[create('c2-a', 'a')], [remove('c2', 'b'), remove('c2-a', 'c')]],
      failing: ['a'],
      tried: ['create a', 'delete b'],
    },
    {
      name: 'passes no set on after a failed write, and blocks what waits for it',
      phases: [[create('c2', 'a')], [pass('c2', 'c3', 'b')], [remove('c3', 'c')]],
      failing: ['a'],
      tried: ['create a'],
    },
    {
      name: 'continues with what is independent, and blocks what waits for it',
      phases: [[create('c2', 'a')], [remove('c2', 'independent-b')], [remove('c2', 'c')], [create('c3', 'd')]],
      failing: ['a', 'independent-b'],
      tried: ['create a', 'delete independent-b', 'create d'],
    },
    {
      name: 'tries all of a phase',
      phases: [[create('c2', 'a'), create('c2', 'b')]],
      failing: ['a'],
      tried: ['create a', 'create b'],
    },
  ])('$name', async ({ phases, failing, tried }) => {
    expect(await run(phases, failing)).toEqual(tried);
  });
});
