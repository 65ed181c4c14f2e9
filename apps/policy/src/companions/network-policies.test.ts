import { Codec, type Kind, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr } from '@kube-semaphore/net';
import { WaitingWrites } from '@kube-semaphore/multicluster';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  ciliumSink,
  type CompanionChange,
  crossClusterRules,
  networkPolicySink,
  observedCompanion,
  sourceOf,
  type WrittenObject,
} from '@kube-semaphore/network-policies';
import { LocalNetworkPolicies } from './local/network-policies.ts';
import { NetworkPolicies } from './network-policies.ts';

const K = 'cluster.clusterset.k8s.io';
const KEY = 'alpha/db';
const codec = new Codec(networkPolicyKind);
const none = () => undefined;

const policy = (generation: number) =>
  codec.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: 'alpha', name: 'db', uid: 'u1', resourceVersion: `${generation}`, generation },
    spec: {
      podSelector: {},
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { [K]: 'c2' } } }] }],
    },
  });

function read(resource: Kind, { metadata, spec }: WrittenObject) {
  const object = new Codec(resource).objectFromJson({
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { uid: 'o1', resourceVersion: '1', ...metadata },
    spec,
  });
  return resource === networkPolicyKind
    ? observedCompanion(object as never)
    : ciliumSink.read(resource, object as never)!;
}

/** Objects of Cilium replace a NetworkPolicy. Its remote isn't reached, so all addresses stay. */
function start() {
  const policies = new LocalNetworkPolicies({
    ids: { key: K, remotes: new Set(['c2']), local: undefined },
    clusters: new Set(['c2']),
    sink: ciliumSink,
    onChange: none,
    onCount: none,
    onOrphans: none,
    onUnknownClusters: none,
    onDiagnostics: none,
  });
  const put = (generation: number) => policies.store.set(KEY, policies.read(policy(generation)));
  put(1);
  policies.store.finishList(new Set([KEY]), { known: 0, isHoldOver: true });
  const text = crossClusterRules(policy(1).spec, K)[0]!.peersHash;
  const before = {
    name: 'db-c2',
    remote: 'c2',
    direction: 'ingress',
    rules: [{ text, ports: [], cidrs: ['10.2.0.1/32'] }],
  } as const;
  for (const { resource, to } of networkPolicySink.partsOf(sourceOf(policy(1)), before))
    policies.companionChanged(undefined, { companion: read(resource, to) });
  const written: string[] = [];
  const refused = new Set<CompanionChange['kind']>();
  const networkPolicies = new NetworkPolicies({
    options: { maxAddressesPerPolicy: 500, maxAddressesPerSource: 5000 },
    metrics: { extendedPolicies: { set: none } } as never,
    local: {
      policies,
      sink: ciliumSink,
      isTaken: () => false,
      write: async (change: CompanionChange) => {
        if (refused.has(change.kind)) throw new Error('refused');
        const { kind } = change.kind === 'delete' ? change.from.resource : change.resource;
        written.push(`${change.kind} ${kind}`);
        policies.companionChanged(
          change.kind === 'create' ? undefined : { companion: change.from },
          change.kind === 'delete' ? undefined : { companion: read(change.resource, change.to) },
        );
      },
    } as never,
    remotes: () => [
      {
        settings: { name: 'c2', clusterSetId: 'c2', labels: {} },
        options: { clusterSetKey: K },
        addresses: { allowed: [mustParseCidr('10.2.0.0/16')], local: [] },
        state: { skipped: { replace: none } },
      } as never,
    ],
    enqueue: (keys) => void enqueued.push(...keys),
  });
  const enqueued: string[] = [];
  void networkPolicies.run({ signal: AbortSignal.abort() });
  enqueued.length = 0;
  const failures: unknown[] = [];
  const waiting = new WaitingWrites({ onFailure: ({ error }) => void failures.push(error), onDue: () => {} });
  const reconcile = async () => {
    const writes = waiting.begin(KEY, { since: undefined });
    await networkPolicies.reconcile(KEY, { signal: AbortSignal.abort(), since: undefined, writes });
    waiting.end(writes);
    waiting.forget();
    if (failures.length > 0) throw failures.pop();
  };
  return { networkPolicies, reconcile, put, refused, enqueued, written: () => written.splice(0) };
}

const CREATED = ['create CiliumCIDRGroup', 'create CiliumNetworkPolicy'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('deletes what another sink wrote 5 s after the last addition', async () => {
  const { networkPolicies, reconcile, refused, enqueued, written } = start();
  refused.add('create');
  await expect(reconcile()).rejects.toThrow('refused');
  vi.advanceTimersByTime(60_000);
  refused.clear();
  await reconcile();
  expect(written()).toEqual(CREATED);
  expect(networkPolicies.plan(KEY)).toMatchObject([[{ kind: 'delete' }]]);
  vi.advanceTimersByTime(4999);
  await reconcile();
  expect(written()).toEqual([]);
  expect(enqueued).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(enqueued).toEqual([KEY]);
  await reconcile();
  expect(written()).toEqual(['delete NetworkPolicy']);
});

it('deletes at once what another sink wrote for an earlier spec', async () => {
  const { reconcile, put, written } = start();
  put(2);
  await reconcile();
  expect(written()).toEqual([...CREATED, 'delete NetworkPolicy']);
});
