import { isDeepStrictEqual } from 'node:util';
import { Codec, networkPolicyKind } from '@kube-semaphore/kube-objects';
import type { Remote } from '@kube-semaphore/multicluster';
import { createMetrics } from '@kube-semaphore/runtime';
import { describe, expect, it } from 'vitest';
import { networkPolicySink, writtenCompanion } from '@kube-semaphore/network-policies';
import type { RemoteSettings } from '../../config/settings.ts';
import { metrics as metricTable } from '../../metrics.ts';
import { LocalNetworkPolicies } from './network-policies.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(networkPolicyKind);

let version = 0;
function policy(name: string, parts: { metadata?: object; spec?: object } = {}) {
  version += 1;
  return codec.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      namespace: 'alpha',
      name,
      uid: `u-${name}`,
      generation: 1,
      resourceVersion: `${version}`,
      ...parts.metadata,
    },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ...parts.spec },
  });
}

const fromC2 = { ingress: [{ from: [{ namespaceSelector: { matchLabels: { [K]: 'c2' } } }] }] };
const fromC2AndC9 = {
  ingress: [{ from: ['c2', 'c9'].map((cluster) => ({ namespaceSelector: { matchLabels: { [K]: cluster } } })) }],
};
const from = (...values: string[]) => ({
  ingress: [{ from: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'In', values }] } }] }],
});
const source = (name: string) => policy(name, { spec: fromC2 });

function written(name: string, of: string, remote = 'c2') {
  const empty = { matchLabels: {}, matchExpressions: [] };
  return writtenCompanion(
    { namespace: 'alpha', name: of, uid: `u-${of}`, generation: 1, podSelector: empty },
    { name, remote, direction: 'ingress', rules: [{ text: 'p', ports: [], cidrs: ['10.2.0.1/32'] }] },
  );
}

const companion = (...which: Parameters<typeof written>) => policy(which[0], written(...which));

const reasonsOf = (diagnostics: readonly { readonly reason: string }[]) => diagnostics.map(({ reason }) => reason);

function start() {
  const changes: string[] = [];
  const orphans = new Map<string, number>();
  const said = new Map<string, readonly string[]>();
  const { metrics, registry } = createMetrics(metricTable);
  const remotes = { byName: new Map([['c2', {} as Remote<RemoteSettings>]]) };
  const policies = new LocalNetworkPolicies({
    ids: { key: K, remotes: new Set(['c2']), local: undefined },
    remotes,
    sink: networkPolicySink,
    counts: { count: (cluster, step) => void orphans.set(cluster, (orphans.get(cluster) ?? 0) + step) },
    metrics,
    skipped: { replace: (subject, diagnostics) => void said.set(subject, reasonsOf(diagnostics)) },
    onChange: (key, { isSource }) => void changes.push(`${key}${isSource ? '' : ' companion'}`),
  });
  const configChanged = (...names: string[]) => {
    remotes.byName = new Map(names.map((name) => [name, {} as Remote<RemoteSettings>]));
    policies.configChanged({ key: K, remotes: new Set(names), local: undefined });
  };
  const gauge = async (name: string, labels: object) => {
    const { values } = await registry.getSingleMetric(`semaphore_policy_${name}`)!.get();
    return values.find((each) => isDeepStrictEqual({ ...each.labels }, labels))?.value;
  };
  const counts = async (remote: string) => ({
    companions: await gauge('companions', { remote }),
    addresses: await gauge('companion_addresses', { remote }),
    behind: await gauge('companions_behind', { remote }),
  });
  const unknown = () => gauge('unknown_clusters', {});
  const put = (object: ReturnType<typeof policy>) =>
    policies.store.set(`${object.metadata.namespace}/${object.metadata.name}`, policies.read(object));
  return { policies, put, counts, unknown, said, orphans, configChanged, changes: () => changes.splice(0) };
}

describe('LocalNetworkPolicies', () => {
  it('finds the sources, and no policy that stays within the cluster', () => {
    const { policies, put, changes } = start();
    put(source('db'));
    put(policy('local', { spec: { ingress: [{ from: [{ namespaceSelector: {} }] }] } }));
    expect([...policies.keys()]).toEqual(['alpha/db']);
    expect(policies.source('alpha/db')).toMatchObject({ source: { name: 'db', uid: 'u-db', generation: 1 } });
    expect(changes()).toEqual(['alpha/db']);
  });

  it.each([
    { name: 'alone', labels: {}, keys: [] },
    { name: 'and that of a remote', labels: { 'policy.semaphore.uw.io/cluster': 'c2' }, keys: ['alpha/'] },
  ])('never takes a policy with our label $name for a source, whatever it names', async ({ labels, keys }) => {
    const { policies, put, unknown, said, changes } = start();
    const ours = { labels: { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy', ...labels } };
    put(policy('db', { metadata: ours, spec: fromC2AndC9 }));
    expect(policies.source('alpha/db')).toBeUndefined();
    // A companion without a source: it is deleted if it is of a remote, and nothing is made of it.
    expect([...policies.keys()]).toEqual(['alpha/']);
    expect(changes()).toEqual(keys.map((key) => `${key} companion`));
    expect([said.get('NetworkPolicy alpha/db'), await unknown()]).toEqual([undefined, 0]);
    put(policy('db', { spec: fromC2AndC9 }));
    expect([...policies.keys()]).toEqual(['alpha/db']);
    put(policy('db', { metadata: ours, spec: fromC2AndC9 }));
    expect(policies.source('alpha/db')).toBeUndefined();
    expect([said.get('NetworkPolicy alpha/db'), await unknown()]).toEqual([[], 0]);
  });

  it('reports a source that is new, or has another spec, and no other change of it', () => {
    const { put, changes } = start();
    const at = (generation: number, metadata: object = {}) =>
      policy('db', { metadata: { generation, ...metadata }, spec: fromC2 });
    put(at(1));
    put(at(1, { resourceVersion: '2', annotations: { note: 'x' } }));
    expect(changes()).toEqual(['alpha/db']);
    put(at(2, { resourceVersion: '3' }));
    expect(changes()).toEqual(['alpha/db']);
    put(at(2, { resourceVersion: '4', uid: 'another' }));
    // The old one goes, and the new one comes.
    expect(changes()).toEqual(['alpha/db', 'alpha/db']);
  });

  it('reports a policy that no longer reaches other clusters', () => {
    const { policies, put, changes } = start();
    put(source('db'));
    put(policy('db'));
    expect(policies.source('alpha/db')).toBeUndefined();
    expect(changes()).toEqual(['alpha/db', 'alpha/db']);
  });

  it('keeps companions by their source, also when that is gone', () => {
    const { policies, put, changes } = start();
    put(source('db'));
    put(companion('db-c2-ingress', 'db'));
    policies.store.delete('alpha/db');
    expect(policies.companions.companionsOf('alpha/db').map(({ name }) => name)).toEqual(['db-c2-ingress']);
    expect([...policies.keys()]).toEqual(['alpha/db']);
    policies.store.delete('alpha/db-c2-ingress');
    expect([...policies.keys()]).toEqual([]);
    expect(changes()).toEqual(['alpha/db', 'alpha/db companion', 'alpha/db', 'alpha/db companion']);
  });

  it('reports both sources of a companion whose annotation somebody edited', () => {
    const { policies, put, changes } = start();
    put(companion('c', 'db'));
    put(companion('c', 'web'));
    expect(changes()).toEqual(['alpha/db companion', 'alpha/db companion', 'alpha/web companion']);
    expect(policies.companions.companionsOf('alpha/db')).toEqual([]);
  });

  it('reports what others do during a write of ours, and not what that does', async () => {
    const { policies, put, changes } = start();
    const ours = companion('c', 'db');
    const observed = () => policies.companions.companionsOf('alpha/db')[0]!;
    const part = { resource: networkPolicyKind, companion: policies.read(ours).companion!, to: written('c', 'db') };
    await policies.ownWrites.send({ kind: 'create', ...part }, async () => put(ours));
    expect(changes()).toEqual([]);
    await policies.ownWrites.send({ kind: 'update', from: observed(), ...part }, async () => {
      put(policy('c', { metadata: part.to.metadata }));
      expect(changes()).toEqual(['alpha/db companion']);
      put(companion('c', 'db'));
    });
    await policies.ownWrites.send({ kind: 'delete', from: observed() }, async () => policies.store.delete('alpha/c'));
    expect(changes()).toEqual([]);
    put(ours);
    policies.store.delete('alpha/c');
    expect(changes()).toEqual(['alpha/db companion', 'alpha/db companion']);
  });

  it('counts the objects of each cluster, and reports none of an orphan, which another process may write', () => {
    const { policies, put, orphans, changes } = start();
    put(companion('c', 'db', 'c9'));
    put(companion('d', 'db', 'c9'));
    put(companion('e', 'db'));
    policies.store.delete('alpha/d');
    expect([...orphans]).toEqual([
      ['c9', 1],
      ['c2', 1],
    ]);
    expect(changes()).toEqual(['alpha/db companion']);
  });

  it('says which names others have, once all are listed', () => {
    const { policies, put } = start();
    put(source('db'));
    put(companion('c', 'db'));
    put(companion('c9', 'db', 'c9'));
    put(policy('other'));
    const names = ['db', 'c', 'c9', 'other', 'free'];
    const taken = () => names.filter((name) => policies.isTaken('alpha/db', name));
    expect(taken()).toEqual([]);
    policies.store.finishList(new Set(names.map((name) => `alpha/${name}`)), { known: 0, isHoldOver: true });
    expect(taken()).toEqual(['db', 'c9', 'other']);
  });

  it('counts and finds the companions of a remote', () => {
    const { policies, put } = start();
    put(companion('a', 'db'));
    put(companion('b', 'web'));
    put(companion('b', 'db'));
    expect(policies.count('c2')).toBe(2);
    expect(policies.companions.companionsFor('c2').map(({ name }) => name)).toEqual(['a', 'b']);
    policies.store.delete('alpha/a');
    expect([policies.count('c2'), policies.count('c3')]).toEqual([1, 0]);
  });

  it('decides nothing about a policy before all are listed, nor about one that is too large', () => {
    const { policies, put } = start();
    put(source('db'));
    expect(policies.isUnread('alpha/db')).toBe(true);
    policies.store.finishList(new Set(['alpha/db']), { known: 0, isHoldOver: true });
    expect([policies.isUnread('alpha/db'), policies.isUnread('alpha/gone')]).toEqual([false, false]);
    const { metadata } = source('db');
    policies.store.set('alpha/db', policies.readTooLarge({ metadata, tooLarge: 'it has too many peers' }));
    expect(policies.isUnread('alpha/db')).toBe(true);
  });

  it('counts companions and their addresses, and those that are behind their source', async () => {
    const { policies, put, counts } = start();
    put(companion('c', 'db'));
    expect(await counts('c2')).toEqual({ companions: 1, addresses: 1, behind: 1 });
    put(source('db'));
    expect(await counts('c2')).toEqual({ companions: 1, addresses: 1, behind: 0 });
    put(policy('db', { metadata: { generation: 2 } }));
    expect(await counts('c2')).toEqual({ companions: 1, addresses: 1, behind: 1 });
    policies.store.delete('alpha/c');
    expect(await counts('c2')).toEqual({ companions: 0, addresses: 0, behind: 0 });
  });

  it('counts the unknown clusters that policies name, and reports what has no effect in each policy', async () => {
    const { policies, put, unknown, said } = start();
    put(policy('a', { spec: from('c2', 'c8', 'c9') }));
    put(policy('b', { spec: from('c9') }));
    expect(await unknown()).toBe(2);
    expect([...said]).toEqual([
      ['NetworkPolicy alpha/a', ['unknown-cluster', 'unknown-cluster']],
      ['NetworkPolicy alpha/b', ['unknown-cluster']],
    ]);
    put(policy('a', { spec: from('c2') }));
    policies.store.delete('alpha/b');
    expect(await unknown()).toBe(0);
    expect([...said.values()]).toEqual([[], []]);
  });

  it('decides again about existing objects after a change of the config', async () => {
    const { policies, put, unknown, counts, said, configChanged } = start();
    put(policy('a', { spec: from('c2', 'c9') }));
    put(companion('c', 'a'));
    put(companion('c9', 'a', 'c9'));
    policies.store.finishList(new Set(['alpha/a', 'alpha/c', 'alpha/c9']), { known: 0, isHoldOver: true });
    const taken = () => ['c', 'c9'].filter((name) => policies.isTaken('alpha/a', name));
    const none = { companions: undefined, addresses: undefined, behind: undefined };
    const one = { companions: 1, addresses: 1, behind: 0 };
    expect([await unknown(), await counts('c2'), await counts('c9'), taken()]).toEqual([1, one, none, ['c9']]);
    configChanged('c9', 'c2');
    expect([await unknown(), await counts('c2'), await counts('c9'), taken()]).toEqual([0, one, one, []]);
    expect(said.get('NetworkPolicy alpha/a')).toEqual([]);
    configChanged('c9');
    expect([await unknown(), await counts('c2'), await counts('c9'), taken()]).toEqual([1, none, one, ['c']]);
    expect(said.get('NetworkPolicy alpha/a')).toEqual(['unknown-cluster']);
  });
});

describe('the labels of local Namespaces', () => {
  const exists = {
    ingress: [{ from: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'Exists' }] } }] }],
  };

  it('decide nothing before they are listed', () => {
    const { put, said } = start();
    put(policy('db', { spec: exists }));
    expect(said.get('NetworkPolicy alpha/db')).toEqual([]);
  });

  it('are compared again when they change, and forgotten with the policy', () => {
    const { policies, put, said } = start();
    put(policy('db', { spec: exists }));
    policies.setLocalValues(new Set([undefined]));
    expect(said.get('NetworkPolicy alpha/db')).toEqual(['local-namespaces-unlabelled']);
    policies.setLocalValues(new Set([undefined, 'c1']));
    expect(said.get('NetworkPolicy alpha/db')).toEqual([]);
    policies.setLocalValues(new Set([undefined]));
    put(policy('db'));
    expect(said.get('NetworkPolicy alpha/db')).toEqual([]);
  });
});
