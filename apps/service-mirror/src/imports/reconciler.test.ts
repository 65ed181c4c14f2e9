import { KubeApiError } from '@kube-semaphore/kube-client';
import { WaitingWrites } from '@kube-semaphore/multicluster';
import { expect, it } from 'vitest';
import { exported } from '../../test/mcs/arbitraries.ts';
import { sliceOf } from '../../test/mcs/inputs.ts';
import { changed as objectsAfter } from '../../test/mcs/observed.ts';
import { Decisions } from '../endpoints/decisions.ts';
import { plainCluster } from '../../test/support/plain-cluster.ts';
import { importKey } from '../names.ts';
import type { ObservedObjects } from './desired/changes.ts';
import type { Exporter } from './desired/import.ts';
import type { ImportAt } from './local/imports.ts';
import { ImportReconciler, type ImportReconcilerOptions } from './reconciler.ts';

const key = importKey('shop', 'web');
const names = ['c1', 'c2', 'c3'];

const exporterOf = (cluster: string): Exporter => ({
  ...exported(cluster),
  isLocal: cluster === 'c1',
  stale: 'no',
  slices: [sliceOf(`web-${cluster}`)],
});

/** The import of three clusters, written; with what each reconcile wrote, the clusters that it asked for, and its diagnostics. */
async function written() {
  const parts = new Map(names.map((cluster) => [cluster, exporterOf(cluster)]));
  let objects: ObservedObjects = { serviceImport: undefined, service: undefined, slices: [] };
  let isRefused = false;
  const did = { asked: [] as string[], sent: [] as string[], reasons: [] as string[] };
  const decisions = new Decisions<Exporter>({ enqueue: () => {}, enqueueAll: () => {} });
  const all = names.map((cluster) => ({
    cluster,
    synced: true,
    part: () => {
      did.asked.push(cluster);
      return { exporter: parts.get(cluster), diagnostics: [] };
    },
  }));
  const imports = {
    isSynced: () => true,
    hasNamespace: () => true,
    import: () => objects.serviceImport,
    service: ({ derivedName }: ImportAt) => (objects.service?.name === derivedName ? objects.service : undefined),
    slice: (_: string, name: string) => objects.slices.find((slice) => slice.name === name),
    observed: () => ({ ...objects, misplaced: [] }),
  } as unknown as ImportReconcilerOptions['imports'];
  const reconciler = new ImportReconciler({
    settings: {
      mcs: { derivedServices: 'namespace', localFirst: false, clusterOrder: new Map() } as never,
      mirrorNamespace: 'mirrors',
      local: { name: 'c1', properties: new Map() },
    },
    remotes: { all: [] },
    imports,
    clusters: {
      all,
      get: (cluster) => all.find((each) => each.cluster === cluster),
      has: (cluster) => names.includes(cluster),
      diagnose: (_, diagnostics) => void (did.reasons = diagnostics.map(({ reason }) => reason)),
      local: {
        synced: true,
        exports: { own: () => undefined },
        services: { service: () => ({ own: { service: 'exported' }, definition: parts.get('c1')!.definition }) },
      },
    },
    decisions,
    families: () => ['IPv4'],
    ...plainCluster(),
    writes: {
      write: (change) => {
        did.sent.push(change.kind);
        if (isRefused) return Promise.reject(new KubeApiError('denied', { status: 422, reason: 'Invalid' }));
        objects = objectsAfter(objects, change);
        return Promise.resolve(undefined);
      },
      writeConditions: () => Promise.reject(new Error('no export of its own')),
    },
  });
  const writes = new WaitingWrites({ onFailure: () => {}, onDue: () => {} });
  const reconcile = async () => {
    Object.assign(did, { asked: [], sent: [], reasons: [] });
    const begun = writes.begin(key, { since: 0 });
    await reconciler.reconcile(key, { signal: new AbortController().signal, since: 0, writes: begun });
    writes.end(begun);
    return { ...did, addresses: objects.slices.flatMap(({ endpoints }) => endpoints.map(({ address }) => address)) };
  };
  const move = (cluster: string, address: string): void => {
    const [slice] = parts.get(cluster)!.slices;
    const endpoints = slice!.endpoints.map((each) => ({ ...each, address }));
    parts.set(cluster, { ...parts.get(cluster)!, slices: [{ ...slice!, endpoints }] });
    decisions.enqueueSlices([key], cluster, 0);
  };
  const refuse = (): void => void (isRefused = true);
  await reconcile();
  return { reconcile, move, refuse, decisions };
}

it('asks only the cluster whose endpoints changed, and all clusters after any other event', async () => {
  const { reconcile, move, decisions } = await written();
  move('c2', '10.4.0.2');
  const once = await reconcile();
  expect(once).toMatchObject({ asked: ['c2'], sent: ['update-slice'] });
  expect(once.addresses.toSorted()).toEqual(['10.4.0.1', '10.4.0.1', '10.4.0.2']);
  expect(await reconcile()).toMatchObject({ asked: [], sent: [] });
  decisions.enqueue([key]);
  expect(await reconcile()).toMatchObject({ asked: names, sent: [] });
});

it('lets all clusters decide again if the endpoints are not written, and says why', async () => {
  const { reconcile, move, refuse } = await written();
  refuse();
  move('c2', '10.4.0.2');
  expect(await reconcile()).toMatchObject({ asked: ['c2', ...names], sent: ['update-slice'], reasons: ['refused'] });
  expect(await reconcile()).toMatchObject({ asked: names, reasons: ['refused'] });
});
