import { once } from 'node:events';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { LabelSelector } from '@kube-semaphore/kube-objects';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PolicyOptions } from '../../config/options.ts';
import { crossClusterRules } from '@kube-semaphore/network-policies';
import { PeerWatches } from './peer-watches.ts';
import type { PeersInput } from './peers.ts';

const K = 'cluster.clusterset.k8s.io';
const HOUR_MS = 3_600_000;

const selector = (...requirements: [key: string, operator: string, ...values: string[]][]): LabelSelector => ({
  matchLabels: {},
  matchExpressions: requirements.map(([key, operator, ...values]) => ({ key, operator, values })),
});

/** The rules of a policy with one peer. */
const rulesOf = (cluster: Parameters<typeof selector>[0], pod = selector()) =>
  crossClusterRules(
    {
      podSelector: selector(),
      policyTypes: ['Ingress'],
      ingress: [
        {
          ports: [],
          from: [{ namespaceSelector: selector(cluster), podSelector: pod, ipBlock: { cidr: '', except: [] } }],
        },
      ],
      egress: [],
    },
    K,
  );
const toC2 = rulesOf([K, 'In', 'c2']);

/** A remote that never answers. */
const silent = async (_: unknown, { signal }: RunOptions): Promise<never> => {
  await once(signal, 'abort');
  throw signal.reason;
};

function remote(name: string, clusterSetId = name): PeersInput {
  const none = () => undefined;
  return {
    settings: {
      name,
      clusterSetId,
      labels: {},
      reference: { kind: 'in-cluster' },
      allowedPodCidrs: [],
      podResyncPeriodMs: 0,
    },
    client: { list: silent, watch: silent } as unknown as KubeClient,
    options: { clusterSetKey: K, deletionGuardPercent: 50, watchIdleTimeoutMs: 90_000 } as PolicyOptions,
    addresses: { allowed: [], local: [] },
    budget: { share: () => ({ release: none, endList: none, beginList: none }) },
    state: { watches: { hooks: () => ({}), drop: none }, skipped: { replace: none }, setHeld: none },
  } as unknown as PeersInput;
}

const ended = new AbortController();

function start(...remotes: PeersInput[]) {
  const watches = new PeerWatches({
    remotes,
    grantedTo: () => [],
    onChange: () => undefined,
    onCount: () => undefined,
  });
  void watches.run({ signal: ended.signal });
  const open = () => watches.all.map(({ cluster }) => cluster);
  return { watches, open };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
});

describe('PeerWatches', () => {
  it('watches the remotes that a policy names, and no other', () => {
    const { watches, open } = start(remote('c2'), remote('c3', 'prod'), remote('c4'));
    expect(open()).toEqual([]);
    watches.setSource('alpha/db', rulesOf([K, 'In', 'c2', 'prod', 'c9']));
    expect(open()).toEqual(['c2', 'c3']);
    expect(watches.viewsOf('alpha/db').map(({ view }) => view)).toMatchObject([
      { cluster: 'c2', known: false },
      { cluster: 'c3', known: false },
    ]);
    watches.setSource('alpha/web', rulesOf([K, 'NotIn', 'c2']));
    expect(open()).toEqual(['c2', 'c3', 'c4']);
  });

  it('fails with the watch of a remote', async () => {
    const watches = new PeerWatches({
      remotes: [remote('c2')],
      grantedTo: () => ({
        [Symbol.iterator]: () => {
          throw new Error('broken');
        },
      }),
      onChange: () => undefined,
      onCount: () => undefined,
    });
    const running = watches.run({ signal: ended.signal });
    watches.setSource('alpha/db', toC2);
    await expect(running).rejects.toThrow('broken');
  });

  it('stops an hour after the last policy that names a remote', () => {
    const { watches, open } = start(remote('c2'));
    watches.setSource('alpha/db', toC2);
    watches.setSource('alpha/web', toC2);
    watches.setSource('alpha/db', []);
    vi.advanceTimersByTime(2 * HOUR_MS);
    expect(open()).toEqual(['c2']);
    watches.setSource('alpha/web', []);
    vi.advanceTimersByTime(HOUR_MS - 1);
    watches.setSource('alpha/db', toC2);
    vi.advanceTimersByTime(HOUR_MS);
    expect(open()).toEqual(['c2']);
    watches.setSource('alpha/db', []);
    vi.advanceTimersByTime(HOUR_MS);
    expect(open()).toEqual([]);
  });

  it('begins again when a policy names a label that was not kept', () => {
    const { watches } = start(remote('c2'));
    watches.setSource('alpha/db', toC2);
    const [first] = watches.all;
    watches.setSource('alpha/web', rulesOf([K, 'In', 'c2'], selector(['app', 'Exists'])));
    expect(watches.all[0]).toBe(first);
    watches.setSource('alpha/web', rulesOf([K, 'In', 'c2'], selector(['job-name', 'DoesNotExist'])));
    const [second] = watches.all;
    expect(second).not.toBe(first);
    expect([...second!.selectorKeys]).toEqual(['job-name']);
    watches.setSource('alpha/web', []);
    expect(watches.all[0]).toBe(second);
  });
});
