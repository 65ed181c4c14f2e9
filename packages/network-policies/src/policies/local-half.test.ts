import { describe, expect, it } from 'vitest';
import type { CrossClusterRule } from './cross-cluster-rules.ts';
import { isOpen, localHalfDiagnostics, namespaceDiagnostics, openRuleOf, openTexts } from './local-half.ts';

const K = 'cluster.clusterset.k8s.io';
const none = { matchLabels: {}, matchExpressions: [] };

const peerOf = (operator: string, ...values: string[]) => ({
  namespaceSelector: { matchLabels: {}, matchExpressions: [{ key: K, operator, values }] },
  podSelector: none,
});

const ruleOf = (...peer: Parameters<typeof peerOf>): CrossClusterRule => ({
  direction: 'ingress',
  ports: [],
  peers: [peerOf(...peer)],
  peersHash: '',
});

const unlabelled = new Set([undefined]);
const labelled = new Set(['c1']);
const partly = new Set(['c1', undefined]);
const wrong = new Set(['c8']);

describe('localHalfDiagnostics', () => {
  const diagnose = (peer: Parameters<typeof peerOf>, values: ReadonlySet<string | undefined>, local?: string) =>
    localHalfDiagnostics([ruleOf(...peer)], { key: K, remotes: new Set(['c2', 'c3']), local }, values).map(
      ({ kind }) => kind,
    );

  it.each<[string, Parameters<typeof peerOf>, ReadonlySet<string | undefined>, string[], string | undefined]>([
    ['one remote', ['In', 'c2'], unlabelled, [], 'c1'],
    ['a remote and this cluster', ['In', 'c1', 'c2'], unlabelled, ['expected'], 'c1'],
    ['this cluster, if a label is missing', ['In', 'c1'], partly, [], 'c1'],
    ['this cluster', ['In', 'c1'], labelled, [], 'c1'],
    ['this cluster, if the labels say another name', ['In', 'c1'], wrong, ['expected'], 'c1'],
    ['this cluster, if its name is not in the config', ['In', 'c1'], unlabelled, [], undefined],
    ['any cluster', ['Exists'], unlabelled, ['expected'], undefined],
    ['any cluster, if namespaces are labelled', ['Exists'], labelled, [], undefined],
    ['all but a remote', ['NotIn', 'c2'], unlabelled, [], 'c1'],
    ['all but this cluster', ['NotIn', 'c1'], unlabelled, ['problem'], 'c1'],
    ['all but this cluster, if a label is missing', ['NotIn', 'c1'], partly, ['problem'], 'c1'],
    ['all but this cluster, if all are labelled', ['NotIn', 'c1'], labelled, [], 'c1'],
    ['all but one that is not a remote', ['NotIn', 'c2', 'c1'], unlabelled, ['problem'], undefined],
    ['this cluster only', ['DoesNotExist'], unlabelled, [], 'c1'],
  ])('for a peer of %s', (_, peer, values, want, local) => {
    expect(diagnose(peer, values, local)).toEqual(want);
  });

  it('says the same of several peers once', () => {
    const ids = { key: K, remotes: new Set(['c2']), local: 'c1' };
    expect(localHalfDiagnostics([ruleOf('NotIn', 'c1'), ruleOf('NotIn', 'c1')], ids, unlabelled)).toHaveLength(1);
  });
});

it.each(['c1', 'c2'])('a peer for a label of the config that excludes %s reaches no local Pod', (excluded) => {
  const ids = { key: K, remotes: new Set(['c2']), local: 'c1' };
  const { namespaceSelector, podSelector } = peerOf('NotIn', excluded);
  const matchLabels = { 'labels.policy.semaphore.uw.io/region': 'eu' };
  const rule = {
    ...ruleOf('Exists'),
    peers: [{ namespaceSelector: { ...namespaceSelector, matchLabels }, podSelector }],
  };
  expect(localHalfDiagnostics([rule], ids, unlabelled)).toEqual([]);
  expect(openRuleOf('alpha/db', rule, ids)).toMatchObject({ isOpen: true, isOpenHere: false });
});

it.each([
  ['In', false],
  ['DoesNotExist', false],
  ['Exists', true],
  ['NotIn', true],
] as const)('a peer with %s reaches remotes of the future: %s', (operator, want) => {
  expect(isOpen(peerOf(operator, 'c2'), K)).toBe(want);
});

it.each<[string, Parameters<typeof peerOf>, string | undefined, boolean]>([
  ['all but a remote', ['NotIn', 'c2'], 'c1', true],
  ['all but two remotes, if the name of this cluster is not known', ['NotIn', 'c2', 'c3'], undefined, true],
  ['all but this cluster', ['NotIn', 'c1'], 'c1', false],
  ['all but this cluster, if its name is not known', ['NotIn', 'c1'], undefined, false],
  ['any cluster', ['Exists'], 'c1', false],
  ['this cluster only', ['DoesNotExist'], 'c1', false],
  ['one remote', ['In', 'c2'], 'c1', false],
])('a peer of %s also reaches local Pods, labelled or not: %s, %s', (_, peer, local, want) => {
  const ids = { key: K, remotes: new Set(['c2', 'c3']), local };
  const { isOpenHere, ...rule } = openRuleOf('alpha/db', ruleOf(...peer), ids);
  expect(isOpenHere).toBe(want);
  expect(openTexts({ ...rule, isOpen: false, isOpenHere })).toEqual(
    want ? ['alpha/db: ingress on all ports from local namespaces, too, with or without the label'] : [],
  );
});

it.each([
  { value: 'c2', local: undefined, want: ['local-namespace-of-remote'] },
  { value: 'c2', local: 'c1', want: ['local-namespace-of-remote'] },
  { value: 'c1', local: undefined, want: [] },
  { value: 'c1', local: 'c1', want: [] },
  { value: 'c8', local: undefined, want: [] },
  { value: 'c8', local: 'c1', want: ['wrong-cluster-label'] },
  { value: undefined, local: 'c1', want: [] },
])('a local namespace of $local with the label $value has the diagnostics $want', ({ value, local, want }) => {
  const ids = { key: K, remotes: new Set(['c2']), local };
  expect(namespaceDiagnostics(value, ids).map(({ reason }) => reason)).toEqual(want);
});
