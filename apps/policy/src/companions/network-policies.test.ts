import { once } from 'node:events';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Kind, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr } from '@kube-semaphore/net';
import { type LeaderQueue, WaitingWrites } from '@kube-semaphore/multicluster';
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
import type { PolicyOptions } from '../config/options.ts';
import type { FollowedRemote } from '../followed-remote.ts';
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

/** A remote that never answers. */
const silent = async (_: unknown, { signal }: RunOptions): Promise<never> => {
  await once(signal, 'abort');
  throw signal.reason;
};

const gauge = { set: none, remove: none };
const remote = {
  settings: { name: 'c2', clusterSetId: 'c2', labels: {} },
  addresses: { allowed: [mustParseCidr('10.2.0.0/16')], local: [] },
  state: { watches: { hooks: () => ({}), drop: none }, skipped: { replace: none }, setHeld: none },
  budget: { share: () => ({ release: none, endList: none, beginList: none }) },
  client: { list: silent, watch: silent },
} as unknown as FollowedRemote;

/** Objects of Cilium replace a NetworkPolicy. Its remote isn't reached, so all addresses stay. */
function start() {
  const policies = new LocalNetworkPolicies({
    ids: { key: K, remotes: new Set(['c2']), local: undefined },
    remotes: { byName: new Map([['c2', remote]]) },
    sink: ciliumSink,
    counts: { count: none },
    metrics: { companions: gauge, companionAddresses: gauge, companionsBehind: gauge, unknownClusters: gauge },
    skipped: { replace: none },
    onChange: none,
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
    policies.companionChanged(undefined, read(resource, to));
  const written: string[] = [];
  const refused = new Set<CompanionChange['kind']>();
  const enqueued: string[] = [];
  const networkPolicies = new NetworkPolicies({
    options: {
      maxAddressesPerPolicy: 500,
      maxAddressesPerSource: 5000,
      clusterSetKey: K,
      deletionGuardPercent: 50,
      watchIdleTimeoutMs: 90_000,
    } as PolicyOptions,
    metrics: { extendedPolicies: gauge } as never,
    local: {
      policies,
      sink: ciliumSink,
      isTaken: () => false,
      write: async (change: CompanionChange) => {
        if (refused.has(change.kind)) throw new Error('refused');
        const { kind } = change.kind === 'delete' ? change.from.resource : change.resource;
        written.push(`${change.kind} ${kind}`);
        policies.companionChanged(
          change.kind === 'create' ? undefined : change.from,
          change.kind === 'delete' ? undefined : read(change.resource, change.to),
        );
      },
    } as never,
    remotes: { all: [remote] },
    leader: {
      queue: () => ({ enqueue: (keys: Iterable<string>) => void enqueued.push(...keys) }) as LeaderQueue,
    },
  });
  const ended = new AbortController();
  const following = networkPolicies.follow(remote, { signal: ended.signal });
  const leave = (): Promise<void> => {
    ended.abort();
    return following;
  };
  const failures: unknown[] = [];
  const waiting = new WaitingWrites({ onFailure: ({ error }) => void failures.push(error), onDue: () => {} });
  const reconcile = async () => {
    const writes = waiting.begin(KEY, { since: undefined });
    await networkPolicies.reconcile(KEY, { signal: AbortSignal.abort(), since: undefined, writes });
    waiting.end(writes);
    waiting.forget();
    if (failures.length > 0) throw failures.pop();
  };
  return { networkPolicies, policies, reconcile, leave, put, refused, enqueued, written: () => written.splice(0) };
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

it('leaves alone the companions for a remote that is not followed now, also if their source is gone', async () => {
  const { networkPolicies, leave, policies } = start();
  expect(networkPolicies.plan(KEY)).not.toEqual([]);
  await leave();
  expect(networkPolicies.plan(KEY)).toEqual([]);
  policies.store.delete(KEY);
  expect(networkPolicies.plan(KEY)).toEqual([]);
});
