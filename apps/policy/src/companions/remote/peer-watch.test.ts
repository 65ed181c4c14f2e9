import { once } from 'node:events';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import type { LabelSelector } from '@kube-semaphore/kube-objects';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PolicyOptions } from '../../config/options.ts';
import { crossClusterRules } from '@kube-semaphore/network-policies';
import { PeerWatch } from './peer-watch.ts';
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

const none = () => undefined;

function remote(name: string, clusterSetId = name): PeersInput {
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

function start(input: PeersInput, granted: () => Iterable<string> = () => []) {
  const watch = new PeerWatch({ ...input, granted, enqueue: none, metrics: { extendedPolicies: { set: none } } });
  return { watch, running: watch.run({ signal: ended.signal }) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
});

describe('PeerWatch', () => {
  it.each([
    { name: 'names', rules: rulesOf([K, 'In', 'prod', 'c9']), isOpen: true },
    { name: 'does not exclude', rules: rulesOf([K, 'NotIn', 'c9']), isOpen: true },
    { name: 'does not name', rules: rulesOf([K, 'In', 'c2']), isOpen: false },
  ])('watches a remote only if a policy reaches it: one that $name its id', ({ rules, isOpen }) => {
    const { watch } = start(remote('c2', 'prod'));
    expect(watch.peers).toBeUndefined();
    watch.setSource('alpha/db', rules);
    expect(watch.peers !== undefined).toBe(isOpen);
    expect(watch.viewOf('alpha/db')?.view.known).toBe(isOpen ? false : undefined);
  });

  it('fails with the watch of the remote', async () => {
    const { watch, running } = start(remote('c2'), () => ({
      [Symbol.iterator]: () => {
        throw new Error('broken');
      },
    }));
    watch.setSource('alpha/db', toC2);
    await expect(running).rejects.toThrow('broken');
  });

  it('stops an hour after the last policy that names the remote', () => {
    const { watch } = start(remote('c2'));
    watch.setSource('alpha/db', toC2);
    watch.setSource('alpha/web', toC2);
    watch.setSource('alpha/db', []);
    vi.advanceTimersByTime(2 * HOUR_MS);
    expect(watch.peers).toBeDefined();
    watch.setSource('alpha/web', []);
    vi.advanceTimersByTime(HOUR_MS - 1);
    watch.setSource('alpha/db', toC2);
    vi.advanceTimersByTime(HOUR_MS);
    expect(watch.peers).toBeDefined();
    watch.setSource('alpha/db', []);
    vi.advanceTimersByTime(HOUR_MS);
    expect(watch.peers).toBeUndefined();
  });

  it('begins again when a policy names a label that was not kept', () => {
    const { watch } = start(remote('c2'));
    watch.setSource('alpha/db', toC2);
    const first = watch.peers;
    watch.setSource('alpha/web', rulesOf([K, 'In', 'c2'], selector(['app', 'Exists'])));
    expect(watch.peers).toBe(first);
    watch.setSource('alpha/web', rulesOf([K, 'In', 'c2'], selector(['job-name', 'DoesNotExist'])));
    const second = watch.peers;
    expect(second).not.toBe(first);
    expect([...second!.selectorKeys]).toEqual(['job-name']);
    watch.setSource('alpha/web', []);
    expect(watch.peers).toBe(second);
  });

  it('leaves no timer when the remote goes', async () => {
    const stop = new AbortController();
    const watch = new PeerWatch({
      ...remote('c2'),
      granted: () => [],
      enqueue: none,
      metrics: { extendedPolicies: { set: none } },
    });
    const running = watch.run({ signal: stop.signal });
    watch.setSource('alpha/db', toC2);
    watch.setSource('alpha/db', []);
    stop.abort();
    await running;
    expect(vi.getTimerCount()).toBe(0);
  });
});
