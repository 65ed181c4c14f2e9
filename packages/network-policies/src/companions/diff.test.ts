import { Codec, networkPolicyKind, type NetworkPolicy, type WrittenNetworkPolicy } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import {
  type Companion,
  isCompanion,
  keptObject,
  networkPolicySink,
  observedCompanion,
  type Sink,
  type Source,
} from './companion.ts';
import { ciliumSink } from '../sinks/cilium-sink.ts';
import {
  type CompanionChange,
  companionEvent,
  diffCompanions,
  independentOf,
  isOutdated,
  isUrgent,
  withoutSource,
} from './diff.ts';
import { wholeCompanions } from '../sinks/grouped-sink.ts';

const codec = new Codec(networkPolicyKind);
const SOURCE: Source = {
  namespace: 'alpha',
  name: 'db',
  uid: 'u1',
  generation: 3,
  podSelector: { matchLabels: {}, matchExpressions: [{ key: 'app', operator: 'Exists', values: [] }] },
};
const tcp = (port: number) => ({ protocol: 'TCP', port, endPort: 0 });
const rule = (...cidrs: string[]) => ({ text: 'p1', ports: [tcp(5432)], cidrs });
const companion = (name: string, ...rules: Companion['rules']): Companion => ({
  name,
  remote: 'c2',
  direction: 'ingress',
  rules,
});

/** A companion as a person edits it. */
type Editable = {
  metadata: {
    labels: Record<string, string>;
    annotations: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { uid: string }[];
  };
  spec: {
    podSelector: object;
    policyTypes: string[];
    ingress: { from?: object[]; ports?: { port: number }[] }[];
  };
};

/** What an API server makes of an object: JSON, read through our table. */
function stored({ metadata, spec }: WrittenNetworkPolicy, edit: (json: Editable) => void = () => {}): NetworkPolicy {
  const json = structuredClone({
    metadata: { uid: 'o1', resourceVersion: '7', ...metadata },
    spec,
  }) as unknown as Editable;
  edit(json);
  return codec.objectFromJson({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...json });
}

/** The companions as they are after `diffCompanions` wrote them into an empty cluster. */
const written = (...companions: Companion[]) =>
  diffCompanions(SOURCE, [], companions)
    .flat()
    .map((change) => stored((change as { to: WrittenNetworkPolicy }).to));

const kinds = (phases: readonly (readonly CompanionChange[])[]) =>
  phases.map((phase) => phase.map((change) => `${change.kind} ${nameOf(change)}`));
const nameOf = (change: CompanionChange) => (change.kind === 'delete' ? change.from.name : change.to.metadata.name);

describe('diffCompanions', () => {
  const a = companion('a', rule('10.2.0.1/32', '10.2.0.2/32'), { text: 'p2', ports: [], cidrs: ['10.2.0.3/32'] });

  it('finds nothing to do once everything is written', () => {
    const objects = written(a);
    expect(objects.every(isCompanion)).toBe(true);
    expect(observedCompanion(objects[0]!)).toMatchObject({ ...a, shard: 0, source: 'db' });
    expect(diffCompanions(SOURCE, objects.map(observedCompanion), [a])).toEqual([]);
  });

  it('adds first, then changes, then removes, then deletes', () => {
    const before = ['add', 'both', 'gone', 'less'].map((name) => companion(name, rule('10.2.0.1/32', '10.2.0.2/32')));
    const after = [
      companion('add', rule('10.2.0.1/32', '10.2.0.2/32', '10.2.0.3/32')),
      companion('both', rule('10.2.0.2/32', '10.2.0.3/32')),
      companion('less', rule('10.2.0.2/32')),
      companion('new', rule('10.2.0.4/32')),
    ];
    const phases = diffCompanions(SOURCE, written(...before).map(observedCompanion), after);
    expect(kinds(phases)).toEqual([['update add', 'create new'], ['update both'], ['update less'], ['delete gone']]);
  });

  it.each<{ name: string; edit: (json: Editable) => void }>([
    { name: 'another peer', edit: ({ spec }) => spec.ingress[0]!.from!.push({ podSelector: {} }) },
    { name: 'a rule that lets everybody in', edit: ({ spec }) => spec.ingress.push({}) },
    { name: 'another port', edit: ({ spec }) => (spec.ingress[0]!.ports![0]!.port = 80) },
    { name: 'another podSelector', edit: ({ spec }) => (spec.podSelector = {}) },
    { name: 'another direction', edit: ({ spec }) => spec.policyTypes.push('Egress') },
    { name: 'no owner', edit: ({ metadata }) => delete metadata.ownerReferences },
    { name: 'the owner of before', edit: ({ metadata }) => (metadata.ownerReferences![0]!.uid = 'u0') },
    { name: 'another source', edit: ({ metadata }) => (metadata.annotations['policy.semaphore.uw.io/source'] = 'x') },
    {
      name: 'peers that nothing reads',
      edit: ({ metadata }) => (metadata.annotations['policy.semaphore.uw.io/peers'] = '{'),
    },
  ])('puts right what somebody edited: $name', ({ edit }) => {
    const [written1] = written(a);
    const edited = stored(writtenAgain(written1!), edit);
    const phases = diffCompanions(SOURCE, [observedCompanion(edited)], [a]);
    expect(kinds(phases)).toEqual([['update a']]);
  });

  it('leaves the labels, annotations and finalizers of others', () => {
    const edited = stored(writtenAgain(written(a)[0]!), ({ metadata }) => {
      metadata.labels['example.com/l'] = '1';
      metadata.annotations['example.com/a'] = '2';
      metadata.finalizers = ['example.com/f'];
    });
    expect(diffCompanions(SOURCE, [observedCompanion(edited)], [a])).toEqual([]);
    const [[change]] = diffCompanions(SOURCE, [observedCompanion(edited)], [companion('a', rule('10.2.0.9/32'))]) as [
      [CompanionChange],
    ];
    expect(change).toMatchObject({
      to: {
        metadata: {
          uid: 'o1',
          resourceVersion: '7',
          labels: { 'example.com/l': '1' },
          annotations: { 'example.com/a': '2' },
          finalizers: ['example.com/f'],
        },
      },
    });
  });

  it('refuses to write a rule without peers, which lets everybody in', () => {
    expect(() => diffCompanions(SOURCE, [], [companion('a', rule())])).toThrow('without peers');
  });
});

describe('the digest of a spec', () => {
  const { metadata } = written(companion('a', rule('10.0.0.1/32')))[0]!;
  const digestOf = (spec: unknown) => keptObject({ metadata, spec }).digest;
  const spec = { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.1/32' } }], ports: [{ port: 1, protocol: 'TCP' }] }] };

  it.each<[string, object]>([
    ['other orders of keys', { ingress: [{ ports: [{ protocol: 'TCP', port: 1 }], from: spec.ingress[0]!.from }] }],
    ['absent and empty fields', { ...spec, egress: [], podSelector: { matchLabels: {} }, a: '', b: 0, c: undefined }],
  ])('is equal for %s', (_, other) => expect(digestOf(other)).toBe(digestOf(spec)));

  it.each<[string, object, object]>([
    ['the order of a list', { a: ['b', 'c'] }, { a: ['c', 'b'] }],
    ['an empty text in a list', { a: ['b', ''] }, { a: ['b'] }],
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['false and absent', { a: false }, {}],
    ['an empty object and an empty list in a list', { a: [{}] }, { a: [[]] }],
  ])('tells apart %s', (_, one, other) => expect(digestOf(one)).not.toBe(digestOf(other)));
});

describe('diffCompanions with groups of addresses', () => {
  const customResources = (phases: readonly (readonly CompanionChange[])[]) =>
    phases.flat().flatMap((change) => {
      if (change.kind === 'delete') return [];
      const resource = ciliumSink.resources.find((each) => each === change.resource)!;
      const json = { apiVersion: 'cilium.io/v2', kind: resource.kind, ...change.to };
      return ciliumSink.read(resource, new Codec(resource).objectFromJson(json)) ?? [];
    });
  const resources = (phases: readonly (readonly CompanionChange[])[]) =>
    phases.map((phase) =>
      phase.map((change) => `${change.kind} ${(change.kind === 'delete' ? change.from : change).resource.kind}`),
    );
  const observedOf = (companions: readonly Companion[], sink: Sink = networkPolicySink) =>
    sink === networkPolicySink
      ? written(...companions).map(observedCompanion)
      : customResources(diffCompanions(SOURCE, [], companions, sink));
  const a = companion('a', rule('10.2.0.1/32'));
  const first = diffCompanions(SOURCE, [], [a], ciliumSink);
  const objects = customResources(first);

  it('has a group before its policy, and until that is gone', () => {
    expect(resources(first)).toEqual([['create CiliumCIDRGroup'], ['create CiliumNetworkPolicy']]);
    expect(wholeCompanions(objects)).toMatchObject([a]);
    expect(diffCompanions(SOURCE, objects, [a], ciliumSink)).toEqual([]);
    const gone = [['delete CiliumNetworkPolicy'], ['delete CiliumCIDRGroup']];
    expect(resources(diffCompanions(SOURCE, objects, [], ciliumSink))).toEqual(gone);
    expect(resources(withoutSource(objects))).toEqual(gone);
    const otherPeers = companion('a', { ...rule('10.2.0.1/32'), text: 'p2' });
    expect(resources(diffCompanions(SOURCE, objects, [otherPeers], ciliumSink))).toEqual([
      ['create CiliumCIDRGroup'],
      ['update CiliumNetworkPolicy'],
      ['delete CiliumCIDRGroup'],
    ]);
  });

  it('removes the companions of another sink last', () => {
    const others = written(a).map(observedCompanion);
    expect(resources(diffCompanions(SOURCE, others, [a], ciliumSink)).slice(2)).toEqual([['delete NetworkPolicy']]);
    expect(resources(diffCompanions(SOURCE, objects, [a]))).toEqual([
      ['create NetworkPolicy'],
      ['delete CiliumNetworkPolicy'],
      ['delete CiliumCIDRGroup'],
    ]);
  });

  it.each<{
    name: string;
    was?: Sink;
    sink?: Sink;
    before: Companion[];
    after: Companion[];
    generation?: number;
    want: string[];
  }>([
    {
      name: 'an address that goes',
      before: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32')), companion('gone', rule('10.2.0.3/32'))],
      after: [companion('a', rule('10.2.0.2/32')), companion('new', rule('10.2.0.4/32'))],
      want: ['update a', 'delete gone'],
    },
    {
      name: 'an address that moves',
      before: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32')), companion('gone', rule('10.2.0.3/32'))],
      after: [companion('a', rule('10.2.0.2/32')), companion('new', rule('10.2.0.1/32', '10.2.0.3/32'))],
      want: [],
    },
    {
      name: 'an address that moves, and one that goes from another companion',
      before: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32')), companion('b', rule('10.2.0.3/32', '10.2.0.5/32'))],
      after: [
        companion('a', rule('10.2.0.2/32')),
        companion('b', rule('10.2.0.5/32')),
        companion('new', rule('10.2.0.1/32')),
      ],
      want: ['update b'],
    },
    {
      name: 'an address that goes from ingress, and comes to egress',
      before: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32'))],
      after: [
        companion('a', rule('10.2.0.2/32')),
        { ...companion('new', { ...rule('10.2.0.1/32'), text: 'p2' }), direction: 'egress' },
      ],
      want: ['update a'],
    },
    {
      name: 'an address that moves to where it is for other peers',
      before: [
        companion('a', { ...rule('10.2.0.1/32'), text: 'p2' }),
        companion('b', rule('10.2.0.1/32', '10.2.0.2/32')),
      ],
      after: [
        companion('a', rule('10.2.0.1/32'), { ...rule('10.2.0.1/32'), text: 'p2' }),
        companion('b', rule('10.2.0.2/32')),
      ],
      want: ['update a'],
    },
    {
      name: 'what an earlier spec allowed',
      before: [companion('a', rule('10.2.0.1/32')), companion('gone', rule('10.2.0.3/32'))],
      after: [companion('new', rule('10.2.0.1/32', '10.2.0.3/32'))],
      generation: 4,
      want: ['delete a', 'delete gone'],
    },
    {
      name: 'an address that goes from a group, and no policy',
      was: ciliumSink,
      sink: ciliumSink,
      before: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32')), companion('gone', rule('10.2.0.3/32'))],
      after: [companion('a', rule('10.2.0.2/32'), { text: 'p2', ports: [], cidrs: ['10.2.0.4/32'] })],
      want: ['update a-', 'delete gone-'],
    },
    {
      name: 'no companion whose addresses a group of another sink is to allow',
      sink: ciliumSink,
      before: [companion('a', rule('10.2.0.1/32'))],
      after: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32'))],
      want: [],
    },
    {
      name: 'no group whose addresses another sink is to allow',
      was: ciliumSink,
      before: [companion('a', rule('10.2.0.1/32'))],
      after: [companion('a', rule('10.2.0.1/32', '10.2.0.2/32'))],
      want: [],
    },
  ])('writes $name even if another write fails', ({ was, sink, before, after, generation = 3, want }) => {
    const source = { ...SOURCE, generation };
    const phases = diffCompanions(source, observedOf(before, was), after, sink);
    const independent = phases.flat().filter(independentOf(phases, source));
    expect(independent.map((change) => `${change.kind} ${nameOf(change).replace(/-[0-9a-f]{20}$/, '-')}`)).toEqual(
      want,
    );
  });

  it('waits for no group to replace an earlier spec, nor takes a group for one', () => {
    const newer = { ...SOURCE, generation: 4 };
    const more = companion('a', rule('10.2.0.1/32', '10.2.0.2/32'));
    const changes = diffCompanions(newer, objects, [more], ciliumSink).flat();
    expect(changes.map((change) => isOutdated(change, newer))).toEqual([false, true]);
    expect(changes.map(isUrgent)).toEqual([false, true]);
  });
});

describe('a change of a companion', () => {
  const before = companion('a', rule('10.2.0.1/32', '10.2.0.2/32'));
  const changeTo = (after: Companion | undefined, source = SOURCE) => {
    const observed = written(before).map(observedCompanion);
    return diffCompanions(source, observed, after === undefined ? [] : [after]).flat()[0]!;
  };
  const more = companion('a', rule('10.2.0.2/32', '10.2.0.3/32'));
  const less = companion('a', rule('10.2.0.2/32'));
  const newer = { ...SOURCE, generation: 4 };

  it.each([
    { name: 'a new one', change: diffCompanions(SOURCE, [], [before]).flat()[0]!, urgent: false, outdated: false },
    { name: 'another Pod', change: changeTo(more), urgent: false, outdated: false },
    { name: 'a Pod less', change: changeTo(less), urgent: true, outdated: false },
    { name: 'a deletion', change: changeTo(undefined), urgent: true, outdated: false },
    { name: 'another spec', change: changeTo(more, newer), urgent: true, outdated: true, source: newer },
    { name: 'a deletion for another spec', change: changeTo(undefined), urgent: true, outdated: true, source: newer },
  ])('is urgent: $urgent, and replaces an earlier spec: $outdated, for $name', (each) => {
    expect(isUrgent(each.change)).toBe(each.urgent);
    expect(isOutdated(each.change, each.source ?? SOURCE)).toBe(each.outdated);
  });

  it('is logged with the numbers of addresses', () => {
    expect(companionEvent(changeTo(more))).toEqual({
      event: 'companion updated',
      facts: { networkPolicy: 'alpha/a', addresses: 2, added: 1, removed: 1 },
    });
    expect(companionEvent(changeTo(undefined))).toMatchObject({ event: 'companion deleted', facts: { addresses: 0 } });
  });
});

/** What was read, as JSON of a server: absent where it is empty. */
const writtenAgain = (object: NetworkPolicy): WrittenNetworkPolicy =>
  (diffCompanions(SOURCE, [], [observedCompanion(object)]).flat()[0] as { to: WrittenNetworkPolicy }).to;
