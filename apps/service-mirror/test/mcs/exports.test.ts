import { connect } from '@kube-semaphore/cluster-auth';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { KubeClient } from '@kube-semaphore/kube-client';
import { deployedCrds, startCluster } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { ExportSource } from '../../src/imports/remote/exports.ts';

const EXPORTS = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default/serviceexports';
const RIGHT = { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports'], verbs: ['list', 'watch'] };

const newExport = (name: string, exportedLabels = {}) => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name },
  spec: { exportedLabels },
});

/** A source that is read with an account's kubeconfig, what it reported, and how it failed. */
async function watched(kubeconfig: string) {
  const reference = { kind: 'kubeconfig', path: kubeconfig } as const;
  const connection = await connect(reference, { env: {}, log: { info: () => {}, warn: () => {} } });
  const changes: string[] = [];
  const skipped: string[] = [];
  const failures: unknown[] = [];
  const source = new ExportSource({
    client: new KubeClient({ connection, userAgent: 'mcs-test', idleTimeoutMs: 50_000 }),
    options: {
      watchIdleTimeoutMs: 50_000,
      deletionGuardHoldMs: 3_600_000,
      deletionGuardMin: 2,
      deletionGuardPercent: 50,
    },
    budget: undefined,
    isLocal: false,
    importer: undefined,
    hooks: { onRestart: ({ error }) => failures.push((error as { status?: number } | undefined)?.status) },
    onChange: ({ namespace, name }) => changes.push(`${namespace}/${name}`),
    skipped: { replace: (subject, all) => void skipped.push(...all.map(({ reason }) => `${subject} ${reason}`)) },
  });
  const aborter = new AbortController();
  const running = source.run({ signal: aborter.signal });
  const stop = async (): Promise<void> => {
    aborter.abort();
    await running;
    connection.close();
  };
  return { source, changes, skipped, failures, stop };
}

const it = test
  .extend('cluster', async ({ task: _task }, { onCleanup }): Promise<TestCluster> => {
    const cluster = await startCluster({ name: 'c2' });
    onCleanup(() => cluster.stop());
    return cluster;
  })
  .extend('define', ({ cluster }) => async () => {
    for (const crd of deployedCrds('service-mirror/mcs')) await cluster.defineResource(crd);
  })
  .extend('proxy', async ({ cluster }, { onCleanup }) => {
    const proxy = await startFaultProxy(cluster);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend('watch', ({ cluster: _cluster }, { onCleanup }) => {
    const all: Awaited<ReturnType<typeof watched>>[] = [];
    onCleanup(async () => void (await Promise.all(all.map(({ stop }) => stop()))));
    return async (kubeconfig: string) => {
      const each = await watched(kubeconfig);
      all.push(each);
      return each;
    };
  });

describe('the exports of a cluster', () => {
  it('are unknown without their definition, not missing (cilium#47793)', async ({ cluster, define, watch }) => {
    const { source, failures, changes } = await watch(cluster.adminKubeconfig);
    await eventually(() => failures.includes(404), true);
    expect([source.known, changes]).toEqual([false, []]);
    await define();
    await cluster.admin.create(EXPORTS, newExport('web', { team: 'a' }));
    await eventually(() => source.known, true);
    await eventually(() => source.export('default', 'web')?.labels, { team: 'a' });
  });

  it('are unknown while they may not be listed', async ({ cluster, define, watch }) => {
    await define();
    await cluster.admin.create(EXPORTS, newExport('web'));
    const { kubeconfig } = await cluster.account('without-right', [{ ...RIGHT, resources: ['serviceimports'] }]);
    const { source, failures } = await watch(kubeconfig);
    await eventually(() => failures.includes(403), true);
    expect([source.known, source.export('default', 'web')]).toEqual([false, undefined]);
  });

  it('are followed with the rights to list and watch them', async ({ cluster, define, watch }) => {
    await define();
    const { kubeconfig } = await cluster.account('reader', [RIGHT]);
    const { source, changes, skipped } = await watch(kubeconfig);
    await eventually(() => source.known, true);
    await cluster.admin.create(EXPORTS, newExport('web'));
    await eventually(() => source.export('default', 'web')?.name, 'web');
    await cluster.admin.create(EXPORTS, newExport('not.a-service'));
    await eventually(() => skipped, ['export default/not.a-service bad-name']);
    await cluster.admin.delete(`${EXPORTS}/web`);
    await eventually(() => source.export('default', 'web'), undefined);
    expect(changes).toEqual(['default/web', 'default/not.a-service', 'default/web']);
  });

  it('stay while the API server is away, and are followed again after it', async ({ cluster, define, watch }) => {
    await define();
    await cluster.admin.create(EXPORTS, newExport('a'));
    const { source } = await watch(cluster.adminKubeconfig);
    await eventually(() => source.export('default', 'a')?.name, 'a');
    await cluster.restart();
    expect([source.known, source.export('default', 'a')?.name]).toEqual([true, 'a']);
    await cluster.admin.create(EXPORTS, newExport('b'));
    await eventually(() => source.export('default', 'b')?.name, 'b');
  });

  it('are held if a list is missing them all', async ({ cluster, proxy, define, watch }) => {
    await define();
    for (const name of ['a', 'b', 'c']) await cluster.admin.create(EXPORTS, newExport(name));
    const { source } = await watch(await proxy.kubeconfig(await cluster.account('reader', [RIGHT])));
    await eventually(() => source.export('default', 'c')?.name, 'c');
    const target = /serviceexports/;
    // The next watch that continues lists again.
    const continued = { verb: 'watch', target: /serviceexports.*[?&]resourceVersion=/, times: 1 } as const;
    const relist = async () => {
      await proxy.set({ kind: 'answer', status: 410, as: 'event' }, continued);
      await proxy.set({ kind: 'reset', connections: 'open' });
    };
    await proxy.set({ kind: 'empty' }, { target });
    await relist();
    await eventually(() => source.held, 3);
    // A held export loses every conflict.
    expect(source.export('default', 'a')).toMatchObject({ name: 'a', createdAt: Infinity });
    await proxy.clear();
    await relist();
    await eventually(() => source.held, 0);
    expect(source.export('default', 'a')?.createdAt).toBeLessThan(Date.now() + 60_000);
  });
});
