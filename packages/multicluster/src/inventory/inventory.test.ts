import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { eventually } from '@kube-semaphore/eventually';
import { KubeApiError, type KubeClient } from '@kube-semaphore/kube-client';
import { Codec, clusterProfileKind } from '@kube-semaphore/kube-objects';
import { Secrets } from '@kube-semaphore/text';
import { expect, it, onTestFinished } from 'vitest';
import { openInventory } from './inventory.ts';
import { podCidrsAnnotation } from './profile.ts';

// Without a CA, each would read all roots of this machine.
const cluster = {
  server: 'https://10.0.0.1',
  'certificate-authority-data': Buffer.from(rootCertificates[0]!).toString('base64'),
};
const apiVersion = 'multicluster.x-k8s.io/v1alpha1';
const profile = (i: number) => ({
  apiVersion,
  kind: 'ClusterProfile',
  metadata: {
    name: `c${i}`,
    namespace: 'fleet',
    uid: `u${i}`,
    resourceVersion: '1',
    creationTimestamp: `2026-01-01T00:${Math.floor(i / 60)
      .toString()
      .padStart(2, '0')}:${(i % 60).toString().padStart(2, '0')}Z`,
    annotations: { [podCidrsAnnotation]: '10.4.0.0/16' },
  },
  status: { accessProviders: [{ name: 'reader', cluster }] },
});

async function providersFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inventory-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'providers.json');
  const execConfig = { apiVersion: 'client.authentication.k8s.io/v1', command: 'reader' };
  await writeFile(path, JSON.stringify({ providers: [{ name: 'reader', execConfig }] }), { mode: 0o644 });
  return path;
}

type WatchOptions = Parameters<KubeClient['watch']>[1];

/** Of these profiles. @param watch answers the watches after the first list */
async function started(items: readonly object[], watch: (options: WatchOptions) => Promise<unknown>) {
  const page = { apiVersion, kind: 'ClusterProfileList', metadata: { resourceVersion: '9' }, items };
  const client = {
    list: async () => new Codec(clusterProfileKind).pageFromJson(page),
    watch: async (_: unknown, options: WatchOptions) => {
      if (options.sendInitialEvents === true)
        throw new KubeApiError('it lacks WatchList', { status: 422, reason: 'Invalid' });
      return watch(options);
    },
  } as unknown as KubeClient;
  const none = (): void => undefined;
  const lines: string[] = [];
  const say = (_: object, message: string): void => void lines.push(message);
  const inventory = await openInventory(
    { clusterProfiles: { namespace: 'fleet', providersFile: await providersFile() } },
    {
      client,
      localName: 'c0',
      secrets: new Secrets(),
      options: { deletionGuardHoldMs: 60_000, watchIdleTimeoutMs: 60_000 },
      metrics: { skippedObjects: { set: none }, heldDeletions: { set: none } } as never,
      log: { trace: none, debug: none, info: say, warn: say, error: say },
    },
  );
  const ended = new AbortController();
  const running = inventory!.run({ signal: ended.signal });
  onTestFinished(async () => {
    ended.abort();
    await running;
  });
  await inventory!.answered;
  return { inventory: inventory!, lines };
}

/** A watch on which nothing happens. */
const quiet = async ({ signal }: WatchOptions) => ({
  async *[Symbol.asyncIterator](): AsyncGenerator<never[]> {
    if (!signal.aborted) await once(signal, 'abort');
    yield [];
  },
});

it('has a thousand remotes at most: the oldest, so that new ones displace none', async () => {
  const { inventory } = await started(
    Array.from({ length: 1_002 }, (_, i) => profile(1_002 - i)),
    quiet,
  );
  expect(await inventory.poll()).toBe(true);
  const names = inventory.remotes.map(({ name }) => name);
  expect([names.length, names[0], names.at(-1)]).toEqual([1_000, 'c1', 'c1000']);
  expect(inventory.status().profiles.filter(({ problem }) => problem !== null)).toMatchObject(
    ['c1001', 'c1002'].map((cluster) => ({
      cluster,
      problem: 'there are 1000 older ones, which are as many as may be',
    })),
  );
});

it('has no problem any more once its watch goes on, although no profile changes', async () => {
  let watches = 0;
  const { inventory, lines } = await started([profile(1)], async (options) => {
    watches++;
    if (watches === 1) return []; // it ends normally, as each does after minutes
    if (watches === 2) throw new KubeApiError('it starts', { status: 503, reason: 'ServiceUnavailable' });
    return quiet(options);
  });
  await eventually(() => lines, ['inventory can not be read; its remotes stay as they are', 'inventory is read again']);
  expect(inventory.status()).toMatchObject({ problem: null, profiles: [{ cluster: 'c1', problem: null }] });
});
