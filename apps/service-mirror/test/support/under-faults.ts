import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { FaultScenario, type Lab } from '@kube-semaphore/testkit';
import { createGlobalAccounts } from './accounts.ts';
import type { EndpointHistory } from './endpoint-history.ts';
import { observedView, wantedView } from './expected-objects.ts';
import { itBehindProxy } from './it.ts';
import type { LocalServices } from './local-services.ts';
import { argvOf, type MirrorFlags, MIRRORS } from './mirror-process.ts';
import { RemoteServices } from './remote-services.ts';
import { addStaying, serviceChanges, staying } from './service-changes.ts';

/**
 * A test with a lab that begins with right mirrors and global Services. Some of them stay all the time. The others change
 * by `seed`.
 */
export const it = itBehindProxy
  .extend('seed', 1)
  .extend('accounts', ({ clusters }) => createGlobalAccounts(clusters))
  .extend('localSources', ({ local }, { onCleanup }) => {
    const sources = new RemoteServices(local, { selector: null });
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend('localProxy', async ({ local }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  })
  .extend(
    'begin',
    ({ seed, clusters, accounts, localProxy, remoteProxy, sources, localSources, mirrors, history, startWith }) => {
      return async (flags: MirrorFlags = {}) => {
        const all = { c2: sources, c1: localSources };
        await addStaying(all);
        const file = join(clusters.local.dir, 'service-mirror.json');
        await writeFile(
          file,
          configOf({
            local: await localProxy.kubeconfig(accounts.local),
            remote: await remoteProxy.kubeconfig(accounts.remote),
          }),
        );
        const scenario = new FaultScenario({
          program: await startWith(argvOf({ config: file, 'listen-address': '127.0.0.1:0', ...flags })),
          prefix: 'semaphore_service_mirror',
          // Services and slices of each selector; and three in the mirror namespace.
          watches: { remote: 4, local: 3 },
          changes: serviceChanges(all, seed),
          wanted: () => wantedView(clusters),
          observed: () => observedView(clusters.local),
          gaps: () => gapsOf(history),
          tamper: () => addForeignEndpoint(mirrors),
        });
        await scenario.settled();
        return scenario;
      };
    },
  )
  .extend('lab', ({ clusters, localProxy, remoteProxy, begin }): Lab => ({
    clusters,
    proxies: { local: localProxy, remote: remoteProxy },
    begin,
  }));

/** A config file with mirrors and global Services, which also removes what lost its source before the start. */
function configOf({ local, remote }: Readonly<Record<'local' | 'remote', string>>): string {
  return JSON.stringify({
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      globalSvcHints: 'labelled',
      mirrorNamespace: MIRRORS,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: 'c1', zones: ['z1'], kubeConfigPath: local },
    remoteClusters: [
      { name: 'c2', kubeConfigPath: remote, servicePrefix: 'c2', allowedPodCIDRs: ['10.0.0.0/8', 'fd00::/8'] },
    ],
  });
}

/** Services that were deleted, and endpoints that were missing, although their source existed all the time. */
async function gapsOf(history: EndpointHistory): Promise<readonly string[]> {
  await history.caughtUp();
  const services = new Map(
    Array.from(
      Map.groupBy(staying, ({ makes }) => makes),
      ([name, all]) => [name, all.flatMap(({ slices }) => slices.flat())],
    ),
  );
  return Array.from(services, ([name, addresses]) => [
    ...history.deletions.filter((deleted) => deleted === name).map(() => `${name} was deleted`),
    ...history.gaps.filter((service) => service === name).map(() => `${name} had no ready endpoint`),
    ...history
      .addressGaps(name)
      .filter((missing) => addresses.includes(missing))
      .map((missing) => `${name} lacked ${missing}`),
  ]).flat();
}

/** Adds a foreign endpoint to a slice. */
async function addForeignEndpoint(mirrors: LocalServices): Promise<void> {
  const [slice] = (await mirrors.slices('c2-default-73736d-cart')).filter(({ endpoints }) =>
    endpoints?.some(({ addresses }) => addresses.includes('10.4.0.3')),
  );
  const foreign = { addresses: ['192.0.2.1'], conditions: { ready: true } };
  await mirrors.patch('endpointslices', slice!.metadata.name, { endpoints: [...(slice!.endpoints ?? []), foreign] });
}
