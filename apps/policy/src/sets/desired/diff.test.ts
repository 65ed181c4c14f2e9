import { calicoMetadataAnnotation } from '@kube-semaphore/network-policies';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Phase } from './change.ts';
import { diffSets } from './diff.ts';
import type { DesiredSet, ObservedSet } from './network-set.ts';
import { domainsWith, setLabels } from './labels.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'calico-global-network-sync-operator' };
const domains = domainsWith(identity.domain);
const labelsOf = (app: string, domain = identity.domain) =>
  setLabels({ ...identity, domain }, { cluster: 'c2', namespace: 'ns', app });

const set = (name: string, app: string, ...nets: readonly string[]): DesiredSet => {
  return { name, labels: labelsOf(app), nets };
};
const seen = (name: string, app: string, ...nets: readonly string[]): ObservedSet => ({
  ...set(name, app, ...nets),
  uid: `uid of ${name}`,
  resourceVersion: '7',
  annotations: {},
});

/** Each phase as `kind name`s. */
const brief = (phases: readonly Phase[]) =>
  phases.map((phase) =>
    phase.map((change) => `${change.kind} ${change.kind === 'delete' ? change.from.name : change.to.name}`).join(', '),
  );

const one = '10.0.0.1/32';
const two = '10.0.0.2/32';
const three = '10.0.0.3/32';

describe('diffSets', () => {
  it.each<{ name: string; from: ObservedSet; to?: DesiredSet; want: readonly string[] }>([
    { name: 'finds nothing if nothing differs', from: seen('a', 'x', one), to: set('a', 'x', one), want: [] },
    {
      name: 'ignores the order of nets (Go wrote the set again)',
      from: seen('a', 'x', two, one),
      to: set('a', 'x', one, two),
      want: [],
    },
    {
      name: 'ignores the order of labels',
      from: { ...seen('a', 'x', one), labels: Object.fromEntries(Object.entries(labelsOf('x')).toReversed()) },
      to: set('a', 'x', one),
      want: [],
    },
    {
      name: 'ignores annotations and owners',
      from: { ...seen('a', 'x', one), annotations: { note: 'mine' }, ownerReferences: [{}], finalizers: ['f'] },
      to: set('a', 'x', one),
      want: [],
    },
    {
      name: 'sees a net that is listed twice',
      from: seen('a', 'x', one, two, two),
      to: set('a', 'x', one, two),
      want: ['update a'],
    },
    {
      name: 'sees a net that is listed twice in place of another',
      from: seen('a', 'x', one, one),
      to: set('a', 'x', one, two),
      want: ['update a'],
    },
    {
      name: 'sees an address without a length',
      from: seen('a', 'x', '10.0.0.1'),
      to: set('a', 'x', one),
      want: ['update a'],
    },
    {
      name: 'ignores labels of others',
      from: { ...seen('a', 'x', one), labels: { ...labelsOf('x'), 'projectcalico.org/x': '', team: 'a' } },
      to: set('a', 'x', one),
      want: [],
    },
    ...['semaphore.uw.systems/old', 'policy.semaphore.uw.io/peer', 'cluster.clusterset.k8s.io'].map((key) => ({
      name: `sees ${key}, which only we may set`,
      from: { ...seen('a', 'x', one), labels: { ...labelsOf('x'), [key]: 'c2' } },
      to: set('a', 'x', one),
      want: ['update a'],
    })),
    {
      name: 'sees the labels of another writer',
      from: { ...seen('a', 'x', one), labels: { ...labelsOf('x'), 'managed-by': 'semaphore-policy' } },
      to: set('a', 'x', one),
      want: ['update a'],
    },
    {
      name: "sees Calico's own copy of the labels, which would win over ours",
      from: { ...seen('a', 'x', one), annotations: { [calicoMetadataAnnotation]: '{}' } },
      to: set('a', 'x', one),
      want: ['update a'],
    },
    { name: 'deletes a set that is not desired', from: seen('a', 'x', one), want: ['delete a'] },
  ])('$name', ({ from, to, want }) => {
    expect(brief(diffSets([from], to === undefined ? [] : [to], domains))).toEqual(want);
  });

  it('changes labels and nets, removes the copy of Calico, and keeps everything else', () => {
    const from = {
      ...seen('a', 'old', one),
      labels: { ...labelsOf('old'), team: 'a' },
      annotations: { note: 'mine', [calicoMetadataAnnotation]: '{"annotations":{"owner":"team-a"}}' },
      ownerReferences: [{ kind: 'ConfigMap', uid: 'u2' }],
      finalizers: ['example.com/keep'],
    };
    const to = {
      ...from,
      labels: { ...labelsOf('x'), team: 'a' },
      nets: [two],
      annotations: { note: 'mine', owner: 'team-a' },
    };
    expect(diffSets([from], [set('a', 'x', two)], domains)).toEqual([[{ kind: 'update', from, to }]]);
  });

  it('passes no label of others to another pair that can have the name of the set', () => {
    const name = 'c2-a-b-x';
    const ofPair = (namespace: string, app: string) => setLabels(identity, { cluster: 'c2', namespace, app });
    const from = { ...seen(name, 'x', one), labels: { ...ofPair('a', 'b-x'), team: 'a' } };
    const to = { ...set(name, 'x', two), labels: ofPair('a-b', 'x') };
    expect(diffSets([from], [to], domains)).toEqual([[{ kind: 'update', from, to: { ...from, ...to } }]]);
    const edited = { ...from, labels: { ...from.labels, 'semaphore.uw.systems/name': 'y' } };
    expect(diffSets([edited], [{ ...to, labels: ofPair('a', 'b-x') }], domains).flat()).toMatchObject([
      { to: { labels: { team: 'a' } } },
    ]);
  });

  it('keeps the labels of others on a set, and comes to rest after one write', () => {
    const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('team', 'projectcalico.org/x', 'constructor'));
    const isOurs = (label: string) =>
      /^(managed-by|cluster\.clusterset\.k8s\.io|(semaphore\.uw\.systems|policy\.sem.*)\/.*)$/.test(label);
    fc.assert(
      fc.property(
        fc.dictionary(
          key.filter((label) => !isOurs(label)),
          fc.string(),
        ),
        fc.boolean(),
        (others, isStored) => {
          const plain = { ...seen('a', 'x', one), labels: { ...labelsOf('x'), ...others } };
          const from = isStored ? { ...plain, annotations: { [calicoMetadataAnnotation]: '{}' } } : plain;
          expect(diffSets([plain], [set('a', 'x', one)], domains)).toEqual([]);
          const [change] = diffSets([from], [set('a', 'x', two)], domains).flat();
          const { to } = change as { readonly to: ObservedSet };
          expect(to.labels).toEqual(plain.labels);
          expect(diffSets([to], [set('a', 'x', two)], domains)).toEqual([]);
        },
      ),
    );
  });

  it.each<{ name: string; from: readonly ObservedSet[]; to: readonly DesiredSet[]; want: readonly string[] }>([
    {
      name: 'creates, then updates, then deletes',
      from: [seen('b', 'x', one), seen('c', 'x', two)],
      to: [set('a', 'x', two), set('b', 'x', three)],
      want: ['create a', 'update b', 'delete c'],
    },
    {
      name: 'updates independent sets in parallel',
      from: [seen('a', 'x', one), seen('b', 'y', one)],
      to: [set('a', 'x', two), set('b', 'y', two)],
      want: ['update a, update b'],
    },
    {
      name: 'adds a moved address before it removes it',
      from: [seen('a', 'x', one, two), seen('b', 'x', three)],
      to: [set('a', 'x', one), set('b', 'x', two, three)],
      want: ['update b', 'update a'],
    },
    {
      name: 'moves an address in any spelling',
      from: [seen('a', 'x', one, '10.0.0.2'), seen('b', 'x', three)],
      to: [set('a', 'x', one), set('b', 'x', two, three)],
      want: ['update b', 'update a'],
    },
    {
      name: 'passes a set to another pair after its addresses are in another set',
      from: [seen('a', 'x', one), seen('b', 'x', two)],
      to: [set('a', 'y', three), set('b', 'x', one, two)],
      want: ['update b', 'update a'],
    },
    {
      name: 'repairs exchanged labels in one phase',
      from: [seen('a', 'x', one), seen('b', 'y', two)],
      to: [set('a', 'y', two), set('b', 'x', one)],
      want: ['update a, update b'],
    },
    {
      name: 'waits for the end of a chain',
      from: [seen('a', 'x', one), seen('b', 'y', two)],
      to: [set('a', 'w', one), set('b', 'x', one), set('c', 'y', two)],
      want: ['create c', 'update b', 'update a'],
    },
    {
      name: 'does not wait while a set that is deleted later has the address',
      from: [seen('a', 'x', one), seen('b', 'x', two), seen('c', 'x', one)],
      to: [set('a', 'x', three), set('b', 'x', one, two)],
      want: ['update a, update b', 'delete c'],
    },
    {
      name: 'delays the set that passes on, of two with an address',
      from: [seen('a', 'x', one, two), seen('b', 'x', one), seen('c', 'x', three)],
      to: [set('a', 'x', two), set('b', 'y', one), set('c', 'x', one, three)],
      want: ['update a, update c', 'update b'],
    },
    {
      name: 'knows a pair under any domain',
      from: [{ ...seen('a', 'x', one, two), labels: labelsOf('x', 'policy.semaphore.uw.io') }, seen('b', 'x', three)],
      to: [set('a', 'x', one), set('b', 'x', two, three)],
      want: ['update b', 'update a'],
    },
  ])('$name', ({ from, to, want }) => {
    expect(brief(diffSets(from, to, domains))).toEqual(want);
    expect(brief(diffSets(from.toReversed(), to.toReversed(), domains))).toEqual(want);
  });
});
