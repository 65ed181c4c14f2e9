import { describe, expect, it } from 'vitest';
import type { LabelSelector, NetworkPolicy, NetworkPolicyPeer } from '@kube-semaphore/kube-objects';
import { crossClusterRules, namesCluster, type RemotePeer, selectsPod } from './cross-cluster-rules.ts';
import type { Requirement } from './selector.ts';

const K = 'cluster.clusterset.k8s.io';
const labels = (matchLabels: LabelSelector['matchLabels']): LabelSelector => ({ matchLabels, matchExpressions: [] });
const requirement = (operator: string, ...values: string[]): Requirement => ({ key: K, operator, values });
const expressions = (...matchExpressions: Requirement[]): LabelSelector => ({ matchLabels: {}, matchExpressions });
const peer = (namespaceSelector = labels({}), podSelector = labels({})): NetworkPolicyPeer & RemotePeer => ({
  namespaceSelector,
  podSelector,
  ipBlock: { cidr: '', except: [] },
});
const tcp = (port: number) => ({ protocol: 'TCP', port, endPort: 0 });

const policyWith = (parts: Partial<NetworkPolicy['spec']>): NetworkPolicy['spec'] => ({
  podSelector: labels({}),
  policyTypes: ['Ingress', 'Egress'],
  ingress: [],
  egress: [],
  ...parts,
});
const rulesOf = (...peers: NetworkPolicyPeer[]) =>
  crossClusterRules(policyWith({ ingress: [{ ports: [], from: peers }] }), K);

/** Which of the remotes c2 and c3 a peer reaches. */
function reached(namespaceSelector: LabelSelector): string[] {
  const peers = rulesOf(peer(namespaceSelector)).flatMap((rule) => rule.peers);
  return ['c2', 'c3'].filter((id) => peers.some((each) => namesCluster(each, K, id)));
}

describe('which clusters a peer reaches', () => {
  it.each([
    { name: '1: the empty selector', of: labels({}), want: [] },
    { name: '1: a selector without the cluster label', of: labels({ team: 'a' }), want: [] },
    { name: '2: = c2', of: labels({ [K]: 'c2' }), want: ['c2'] },
    { name: '2: In [c2]', of: expressions(requirement('In', 'c2')), want: ['c2'] },
    { name: '3: In [c1, c2], c1 is local', of: expressions(requirement('In', 'c1', 'c2')), want: ['c2'] },
    { name: '4: = c1, which is local', of: labels({ [K]: 'c1' }), want: [] },
    { name: '5: = c9, which is not configured', of: labels({ [K]: 'c9' }), want: [] },
    { name: '6: Exists', of: expressions(requirement('Exists')), want: ['c2', 'c3'] },
    { name: '7: NotIn [c2]', of: expressions(requirement('NotIn', 'c2')), want: ['c3'] },
    { name: '8: NotIn [c1]', of: expressions(requirement('NotIn', 'c1')), want: ['c2', 'c3'] },
    { name: '9: DoesNotExist', of: expressions(requirement('DoesNotExist')), want: [] },
    {
      name: '10: several requirements',
      of: expressions(requirement('Exists'), requirement('NotIn', 'c3')),
      want: ['c2'],
    },
  ])('case $name', ({ of, want }) => {
    expect(reached(of)).toEqual(want);
  });

  it('is limited by labels of the config, which the peer names beside the cluster label', () => {
    const region = 'labels.policy.semaphore.uw.io/region';
    const reachedIn = (eu: string) => (selector: LabelSelector) =>
      namesCluster(peer(selector), K, 'c2', { [region]: eu });
    const inEu = labels({ [K]: 'c2', [region]: 'eu', team: 'a' });
    expect([reachedIn('eu')(inEu), reachedIn('us')(inEu)]).toEqual([true, false]);
    const notInEu = expressions(requirement('Exists'), { key: region, operator: 'NotIn', values: ['eu'] });
    expect([reachedIn('eu')(notInEu), namesCluster(peer(notInEu), K, 'c2')]).toEqual([false, true]);
    expect(rulesOf(peer(labels({ [region]: 'eu' })))).toEqual([]);
  });

  it('case 11: none, with the cluster label in a podSelector', () => {
    expect(rulesOf(peer(undefined, labels({ [K]: 'c2' })), peer(labels({}), labels({ [K]: 'c2' })))).toEqual([]);
  });
});

describe('crossClusterRules', () => {
  it('takes no rule without peers, which allows everybody already', () => {
    expect(crossClusterRules(policyWith({ ingress: [{ ports: [tcp(80)], from: [] }] }), K)).toEqual([]);
  });

  it('takes only the directions of policyTypes', () => {
    const peers = [peer(labels({ [K]: 'c2' }))];
    const policy = policyWith({
      policyTypes: ['Egress'],
      ingress: [{ ports: [], from: peers }],
      egress: [{ ports: [], to: peers }],
    });
    expect(crossClusterRules(policy, K).map(({ direction }) => direction)).toEqual(['egress']);
  });

  it('takes of a rule only the peers that reach other clusters', () => {
    const remote = peer(labels({ [K]: 'c2' }), labels({ app: 'web' }));
    expect(rulesOf(peer(labels({})), remote, peer())).toMatchObject([
      { peers: [{ podSelector: labels({ app: 'web' }) }] },
    ]);
  });

  it('makes one rule of those with the same peers, with the ports of all', () => {
    const peers = [peer(labels({ [K]: 'c2', a: 'b' }))];
    const reordered = [peer(labels({ a: 'b', [K]: 'c2' }))];
    const rules = (...ports: readonly ReturnType<typeof tcp>[][]) =>
      crossClusterRules(
        policyWith({ ingress: ports.map((each, i) => ({ ports: each, from: i === 0 ? peers : reordered })) }),
        K,
      );
    expect(rules([tcp(80)], [tcp(443)])).toMatchObject([{ ports: [tcp(80), tcp(443)] }]);
    expect(rules([tcp(80)], [])).toMatchObject([{ ports: [] }]);
  });

  it('gives other peers another hash', () => {
    const hashes = [labels({ [K]: 'c2' }), labels({ [K]: 'c3' }), expressions(requirement('In', 'c2'))].flatMap((of) =>
      rulesOf(peer(of), peer(of, labels({ app: 'web' }))).map(({ peersHash }) => peersHash),
    );
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('selectsPod', () => {
  const web: RemotePeer = { namespaceSelector: labels({ [K]: 'c2', team: 'a' }), podSelector: labels({ app: 'web' }) };

  it.each([
    { name: 'both selectors match', namespace: { [K]: 'c2', team: 'a' }, pod: { app: 'web' }, want: true },
    { name: 'the namespace does not', namespace: { [K]: 'c2', team: 'b' }, pod: { app: 'web' }, want: false },
    { name: 'the Pod does not', namespace: { [K]: 'c2', team: 'a' }, pod: { app: 'db' }, want: false },
  ])('is $want when $name', ({ namespace, pod, want }) => {
    expect(selectsPod(web, namespace, pod)).toBe(want);
  });

  it('takes every Pod of the namespaces without a podSelector', () => {
    expect(selectsPod({ ...web, podSelector: labels({}) }, { [K]: 'c2', team: 'a' }, {})).toBe(true);
  });
});
