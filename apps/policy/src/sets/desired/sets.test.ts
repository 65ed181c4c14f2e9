import { hash10 } from '@kube-semaphore/naming';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DesiredInput, desiredSets, type WantedPair } from './sets.ts';
import type { ObservedSet } from './network-set.ts';
import { domainsWith, setLabels } from './labels.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'calico-global-network-sync-operator' };

type PairParts = { readonly cluster?: string; readonly namespace: string; readonly app: string };

type PodParts = { readonly ips: readonly string[]; readonly hostNetwork?: boolean };

/** The pair `namespace/app`, with one Pod for each of `pods`; a text is a Pod with that address. */
function pair(text: string, ...pods: readonly (string | PodParts)[]): WantedPair {
  const [namespace = '', app = ''] = text.split('/');
  const members = pods.map((pod, i) => {
    const { ips, hostNetwork = false } = typeof pod === 'string' ? { ips: [pod] } : pod;
    return { uid: `u${i}`, namespace, name: `pod-${i}`, app, ips, hostNetwork };
  });
  return { identity, cluster: 'c2', namespace, app, members };
}

function observed(name: string, of: PairParts, nets: readonly string[]): ObservedSet {
  const labels = setLabels(identity, { cluster: 'c2', ...of });
  return { name, uid: `uid of ${name}`, resourceVersion: '1', labels, annotations: {}, nets };
}

function desired(input: Partial<DesiredInput>) {
  return desiredSets({
    domains: domainsWith(identity.domain),
    pairs: [],
    observed: [],
    isTaken: () => false,
    maxNetsPerSet: 1000,
    hostNetworkPods: 'exclude',
    ...input,
  });
}

/** The sets as `name: nets`. */
const brief = (input: Partial<DesiredInput>) =>
  Object.fromEntries(desired(input).sets.map(({ name, nets }) => [name, nets.join(' ')]));

const hash = (namespace: string, app: string) => hash10('c2', namespace, app);

describe('a desired set', () => {
  it('has the four labels, and the label value as it is', () => {
    expect(desired({ pairs: [pair('ns/My_App', '10.0.0.1')] }).sets).toEqual([
      {
        name: `c2-ns-my-app-${hash('ns', 'My_App')}`,
        labels: {
          'managed-by': 'calico-global-network-sync-operator',
          'semaphore.uw.systems/name': 'My_App',
          'semaphore.uw.systems/namespace': 'ns',
          'semaphore.uw.systems/cluster': 'c2',
        },
        nets: ['10.0.0.1/32'],
      },
    ]);
  });

  it.each([
    { family: 'IPv4', count: 50_000, ipOf: (i: number) => `10.0.${i >> 8}.${i & 255}`, want: [50_000] },
    { family: 'IPv6', count: 30_000, ipOf: (i: number) => `fd00::${i.toString(16)}`, want: [30_000] },
    { family: 'IPv6', count: 30_001, ipOf: (i: number) => `fd00::${i.toString(16)}`, want: [30_000, 1] },
  ])('is small enough for etcd with $count addresses of $family', ({ count, ipOf, want }) => {
    const pairs = [pair('ns/app', ...Array.from({ length: count }, (_, i) => ipOf(i + 1)))];
    const { sets } = desired({ pairs, maxNetsPerSet: 50_000 });
    expect(sets.map(({ nets }) => nets.length)).toEqual(want);
  });

  it.each<{ name: string; pairs: readonly WantedPair[]; want: Record<string, string> }>([
    {
      name: 'sorts addresses by number, IPv6 as /128 (Go wrote /32)',
      pairs: [pair('ns/app', { ips: ['10.0.0.10', 'fd00::26'] }, '10.0.0.9')],
      want: { 'c2-ns-app': '10.0.0.9/32 10.0.0.10/32 fd00::26/128' },
    },
    {
      name: 'has the address of two Pods once (Go removed it with the first Pod)',
      pairs: [pair('ns/app', '10.0.0.1', '10.0.0.1')],
      want: { 'c2-ns-app': '10.0.0.1/32' },
    },
    {
      name: 'has no Pods on the network of their node',
      pairs: [pair('ns/app', '10.0.0.1', { ips: ['192.168.0.1'], hostNetwork: true })],
      want: { 'c2-ns-app': '10.0.0.1/32' },
    },
    {
      name: 'does not exist without members',
      pairs: [pair('ns/app', { ips: ['192.168.0.1'], hostNetwork: true })],
      want: {},
    },
  ])('$name', ({ pairs, want }) => {
    expect(brief({ pairs })).toEqual(want);
  });
});

describe('the name of a set', () => {
  type Row = {
    name: string;
    pairs: readonly WantedPair[];
    taken?: readonly string[];
    max?: number;
    want: Record<string, string>;
  };

  it.each<Row>([
    {
      name: 'goes to the smaller of two pairs (in Go both wrote one set in turn)',
      pairs: [pair('a-b/c', '10.0.0.2'), pair('a/b-c', '10.0.0.1')],
      want: { 'c2-a-b-c': '10.0.0.1/32', [`c2-a-b-c-${hash('a-b', 'c')}`]: '10.0.0.2/32' },
    },
    {
      name: 'stays free while the smaller pair has no address',
      pairs: [pair('a-b/c', '10.0.0.2'), pair('a/b-c', { ips: ['192.168.0.1'], hostNetwork: true })],
      want: { 'c2-a-b-c': '10.0.0.2/32' },
    },
    {
      name: 'is never only the legalised one',
      pairs: [pair('ns/My_App', '10.0.0.1'), pair('ns/my-app', '10.0.0.2')],
      want: { [`c2-ns-my-app-${hash('ns', 'My_App')}`]: '10.0.0.1/32', 'c2-ns-my-app': '10.0.0.2/32' },
    },
    {
      name: 'has the suffix if an object that is not ours has the plain one',
      pairs: [pair('ns/app', '10.0.0.1')],
      taken: ['c2-ns-app'],
      want: { [`c2-ns-app-${hash('ns', 'app')}`]: '10.0.0.1/32' },
    },
    {
      name: 'is that of a shard if both are taken',
      pairs: [pair('ns/app', '10.0.0.1')],
      taken: ['c2-ns-app', `c2-ns-app-${hash('ns', 'app')}`],
      want: { [`c2-ns-app-${hash('ns', 'app')}-s1`]: '10.0.0.1/32' },
    },
    {
      name: 'is not that of a shard whose name is taken',
      pairs: [pair('ns/app', '10.0.0.1', '10.0.0.2')],
      taken: [`c2-ns-app-${hash('ns', 'app')}-s1`],
      max: 1,
      want: { 'c2-ns-app': '10.0.0.1/32', [`c2-ns-app-${hash('ns', 'app')}-s2`]: '10.0.0.2/32' },
    },
    {
      name: 'goes to the pair whose suffixed name it is',
      pairs: [pair('ns/my_app', '10.0.0.1'), pair(`ns/my-app-${hash('ns', 'my_app')}`, '10.0.0.2')],
      want: {
        [`c2-ns-my-app-${hash('ns', 'my_app')}`]: '10.0.0.1/32',
        [`c2-ns-my-app-${hash('ns', 'my_app')}-${hash('ns', `my-app-${hash('ns', 'my_app')}`)}`]: '10.0.0.2/32',
      },
    },
    {
      name: 'stays plain if it only looks like the suffixed name of another',
      pairs: [pair('ns/app', '10.0.0.1'), pair(`ns/app-${hash('ns', 'app')}`, '10.0.0.2')],
      want: { 'c2-ns-app': '10.0.0.1/32', [`c2-ns-app-${hash('ns', 'app')}`]: '10.0.0.2/32' },
    },
  ])('$name', ({ pairs, taken = [], max = 1000, want }) => {
    const rest = { isTaken: (name: string) => taken.includes(name), maxNetsPerSet: max };
    expect(brief({ pairs, ...rest })).toEqual(want);
    expect(brief({ pairs: pairs.toReversed(), ...rest })).toEqual(want);
  });
});

describe('the shards of a pair', () => {
  const app = { namespace: 'ns', app: 'app' };
  const suffixed = `c2-ns-app-${hash('ns', 'app')}`;
  const pairs = [pair('ns/app', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4')];

  it.each<{ name: string; observed: readonly ObservedSet[]; want: Record<string, string> }>([
    {
      name: 'are filled in order',
      observed: [],
      want: { 'c2-ns-app': '10.0.0.1/32 10.0.0.2/32 10.0.0.3/32', [`${suffixed}-s1`]: '10.0.0.4/32' },
    },
    {
      name: 'keep their addresses',
      observed: [
        observed('c2-ns-app', app, ['10.0.0.4/32', '10.0.0.3/32']),
        observed(`${suffixed}-s1`, app, ['10.0.0.2/32', '10.0.0.1/32']),
      ],
      want: { 'c2-ns-app': '10.0.0.3/32 10.0.0.4/32', [`${suffixed}-s1`]: '10.0.0.1/32 10.0.0.2/32' },
    },
    {
      name: 'keep their addresses in another spelling',
      observed: [observed(`${suffixed}-s1`, app, ['10.0.0.1', '10.0.0.300', '010.0.0.2/32'])],
      want: { 'c2-ns-app': '10.0.0.2/32 10.0.0.3/32 10.0.0.4/32', [`${suffixed}-s1`]: '10.0.0.1/32' },
    },
    {
      name: 'are also known by the suffixed name',
      observed: [
        observed(suffixed, app, ['10.0.0.3/32', '10.0.0.4/32']),
        observed(`${suffixed}-s1`, app, ['10.0.0.1/32', '10.0.0.2/32']),
      ],
      want: { 'c2-ns-app': '10.0.0.3/32 10.0.0.4/32', [`${suffixed}-s1`]: '10.0.0.1/32 10.0.0.2/32' },
    },
    {
      name: 'are known by their name if the labels were edited',
      observed: [observed(`${suffixed}-s1`, { namespace: 'other', app: 'x' }, ['10.0.0.1/32'])],
      want: { 'c2-ns-app': '10.0.0.2/32 10.0.0.3/32 10.0.0.4/32', [`${suffixed}-s1`]: '10.0.0.1/32' },
    },
    {
      name: 'are known by the labels of another domain',
      observed: [
        {
          ...observed(`${suffixed}-s1`, app, ['10.0.0.1/32']),
          labels: setLabels(
            { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' },
            { cluster: 'c2', ...app },
          ),
        },
      ],
      want: { 'c2-ns-app': '10.0.0.2/32 10.0.0.3/32 10.0.0.4/32', [`${suffixed}-s1`]: '10.0.0.1/32' },
    },
  ])('$name', ({ observed: sets, want }) => {
    expect(brief({ pairs, observed: sets, maxNetsPerSet: 3 })).toEqual(want);
  });
});

describe('an address of a node', () => {
  const pairs = [pair('ns/app', '10.0.0.1', { ips: ['192.168.0.1', '192.168.0.2'], hostNetwork: true })];
  const sets = [observed('c2-ns-app', { namespace: 'ns', app: 'app' }, ['192.168.0.1/32'])];

  it.each([
    {
      name: 'is in the set with include, as in Go',
      mode: 'include',
      want: '10.0.0.1/32 192.168.0.1/32 192.168.0.2/32',
    },
    { name: 'is not in the set with exclude', mode: 'exclude', want: '10.0.0.1/32' },
    { name: 'stays in the set of Go without a flag', mode: 'retain', want: '10.0.0.1/32 192.168.0.1/32' },
  ] as const)('$name', ({ mode, want }) => {
    expect(brief({ pairs, observed: sets, hostNetworkPods: mode })).toEqual({ 'c2-ns-app': want });
  });

  it('is not retained from the set of another pair with the same name', () => {
    const others = [observed('c2-a-b-c', { namespace: 'a', app: 'b-c' }, ['192.168.0.1/32'])];
    const own = [pair('a-b/c', '10.0.0.1', { ips: ['192.168.0.1'], hostNetwork: true })];
    expect(brief({ pairs: own, observed: others, hostNetworkPods: 'retain' })).toEqual({
      'c2-a-b-c': '10.0.0.1/32',
    });
  });

  it('stays if the labels were edited', () => {
    const edited = [observed('c2-ns-app', { namespace: 'other', app: 'x' }, ['192.168.0.1/32'])];
    expect(brief({ pairs, observed: edited, hostNetworkPods: 'retain' })).toEqual({
      'c2-ns-app': '10.0.0.1/32 192.168.0.1/32',
    });
  });
});

describe('the diagnostics', () => {
  const onNode = (ip: string) => ({ ips: [ip], hostNetwork: true });
  const hosts = [pair('ns/app', onNode('192.168.0.1'), onNode('192.168.0.2'))];
  const sets = [observed('c2-ns-app', { namespace: 'ns', app: 'app' }, ['192.168.0.1/32'])];

  it.each<{ name: string; input: Partial<DesiredInput>; want: readonly string[] }>([
    { name: 'are empty if nothing is wrong', input: { pairs: [pair('ns/app', '10.0.0.1')] }, want: [] },
    {
      name: 'name each Pod on the network of its node',
      input: { pairs: hosts },
      want: ['expected host-network ns/pod-0', 'expected host-network ns/pod-1'],
    },
    {
      name: 'warn of a retained address of a node',
      input: { pairs: hosts, observed: sets, hostNetworkPods: 'retain' },
      want: ['problem host-network-kept ns/pod-0', 'expected host-network ns/pod-1'],
    },
    {
      name: 'are empty with include',
      input: { pairs: hosts, hostNetworkPods: 'include' },
      want: [],
    },
    {
      name: 'warn of a name that is taken',
      input: { pairs: [pair('ns/app', '10.0.0.1')], isTaken: (name) => name === 'c2-ns-app' },
      want: ['problem name-taken ns/app'],
    },
  ])('$name', ({ input, want }) => {
    const { diagnostics } = desired(input);
    expect(diagnostics.map(({ kind, reason, namespace, name }) => `${kind} ${reason} ${namespace}/${name}`)).toEqual(
      want,
    );
  });
});

it('does not depend on the order of Pods, pairs and sets', () => {
  const anyPair = fc
    .tuple(
      fc.constantFrom('a/b-c', 'a-b/c', 'a/B-c', 'a/b_c'),
      fc.uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1')),
      fc.boolean(),
    )
    .map(([text, ips, hostNetwork]) => pair(text, ...ips.map((ip) => ({ ips: [ip], hostNetwork }))));
  const anySet = fc
    .tuple(
      fc.constantFrom('c2-a-b-c', `c2-a-b-c-${hash('a-b', 'c')}`, `c2-a-b-c-${hash('a', 'b-c')}-s1`),
      fc.constantFrom({ namespace: 'a', app: 'b-c' }, { namespace: 'a-b', app: 'c' }),
      fc.uniqueArray(fc.constantFrom('10.0.0.1/32', '10.0.0.2/32', 'fd00::1/128')),
    )
    .map((of) => observed(...of));
  fc.assert(
    fc.property(
      fc.uniqueArray(anyPair, { selector: ({ namespace, app }) => `${namespace}/${app}` }),
      fc.uniqueArray(anySet, { selector: ({ name }) => name }),
      (pairs, sets) => {
        const reversed = pairs.map((of) => ({ ...of, members: of.members.toReversed() })).toReversed();
        const rest = { maxNetsPerSet: 2, hostNetworkPods: 'retain' } as const;
        expect(desired({ pairs: reversed, observed: sets.toReversed(), ...rest })).toEqual(
          desired({ pairs, observed: sets, ...rest }),
        );
      },
    ),
  );
});
