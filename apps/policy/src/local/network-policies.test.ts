import { Codec, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { writtenCompanion } from '../desired/network-policies/companion.ts';
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
const source = (name: string) => policy(name, { spec: fromC2 });

function companion(name: string, of: string, remote = 'c2') {
  const empty = { matchLabels: {}, matchExpressions: [] };
  const written = writtenCompanion(
    { namespace: 'alpha', name: of, uid: `u-${of}`, generation: 1, podSelector: empty },
    { name, remote, direction: 'ingress', rules: [{ text: 'p', ports: [], cidrs: ['10.2.0.1/32'] }] },
  );
  return policy(name, written);
}

function start() {
  const changes: string[] = [];
  const policies = new LocalNetworkPolicies({
    clusterKey: K,
    clusters: new Set(['c2']),
    onChange: (key, { isSource }) => void changes.push(`${key}${isSource ? '' : ' companion'}`),
  });
  const put = (object: ReturnType<typeof policy>) =>
    policies.store.set(`${object.metadata.namespace}/${object.metadata.name}`, policies.read(object));
  return { policies, put, changes: () => changes.splice(0) };
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
    expect(policies.companionsOf('alpha/db').map(({ name }) => name)).toEqual(['db-c2-ingress']);
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
    expect(policies.companionsOf('alpha/db')).toEqual([]);
  });

  it('leaves alone the companions for a remote of another process', () => {
    const { policies, put } = start();
    put(companion('c', 'db', 'c9'));
    expect(policies.companionsOf('alpha/db')).toEqual([]);
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
    policies.store.finishList(new Set(names.map((name) => `alpha/${name}`)), { known: 0, believe: true });
    expect(taken()).toEqual(['db', 'c9', 'other']);
  });
});
