import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGlobalAccounts } from '../accounts.ts';
import { startCaServer } from '../ca-server.ts';
import { GoGlobals, type GoGlobalsOptions } from './globals.ts';
import { it as itMigrating } from '../migration.ts';
import { MIRRORS } from '../mirror-process.ts';
import { RemoteServices } from '../remote-services.ts';

/** The selectors in the example of the Go program's README. */
export const goSelectors = {
  globalSvcLabelSelector: 'mirror.semaphore.uw.io/global-service=true',
  globalSvcRoutingStrategyLabel: 'mirror.semaphore.uw.io/global-service-routing-strategy=local-first',
  mirrorSvcLabelSelector: 'mirror.semaphore.uw.io/mirror-service=true',
} as const;

/** Fields of the file; an undefined one isn't written. */
type GoFile = {
  readonly global?: object | undefined;
  readonly localCluster?: object | undefined;
  readonly remote?: object | undefined;
};

type StartOptions = {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ready?: boolean;
};

/**
 * A test in which the Go program, and then ours, go by the Go program's file: with all of its fields, under the roles of
 * its manifests, and with the CA of the remote where that serves it.
 */
export const it = itMigrating
  .extend('localSources', ({ local }, { onCleanup }) => {
    const sources = new RemoteServices(local, { selector: null });
    onCleanup(() => sources.clear());
    return sources;
  })
  .extend('accounts', { scope: 'file' }, ({ clusters }) => createGlobalAccounts(clusters))
  /** With the deployed rights for global services. */
  .extend('globalAccount', { scope: 'file' }, ({ accounts }) => accounts.local)
  .extend(
    'sliceNames',
    ({ mirrors }) =>
      async () =>
        (await mirrors.slices()).map(({ metadata }) => metadata.name).toSorted(),
  )
  .extend('caServer', { scope: 'file' }, async ({ remote }, { onCleanup }) => {
    const server = await startCaServer(remote);
    onCleanup(() => server.stop());
    return server;
  })
  .extend('goGlobals', ({ local, goAccount }) => {
    return (options: Partial<GoGlobalsOptions> = {}) =>
      new GoGlobals(local, goAccount, { endpointSliceSync: true, zones: ['local'], ...options });
  })
  /** Started with variables only; only the listen address is ours. */
  .extend(
    'goStartFile',
    ({ local, remote, goAccount, goRemoteAccount, caServer, startWith, localSources: _localSources }) => {
      return async (file: GoFile = {}, { words = [], env = {}, ready = true }: StartOptions = {}) => {
        const path = join(local.dir, 'config.json');
        const content = {
          global: {
            ...goSelectors,
            mirrorNamespace: MIRRORS,
            serviceSync: true,
            endpointSliceSync: true,
            ...file.global,
          },
          localCluster: {
            name: 'c1',
            zones: ['eu-west-1a', 'eu-west-1b'],
            kubeConfigPath: goAccount.kubeconfig,
            ...file.localCluster,
          },
          remoteClusters: [
            {
              name: 'c2',
              remoteCAURL: caServer.url,
              remoteAPIURL: remote.url,
              remoteSATokenPath: goRemoteAccount.tokenFile,
              resyncPeriod: '10s',
              servicePrefix: 'c2',
              ...file.remote,
            },
          ],
        };
        await writeFile(path, JSON.stringify(content, undefined, 2));
        return startWith([...words, '-listen-address=127.0.0.1:0'], {
          env: { SSM_CONFIG: path, SSL_CERT_FILE: caServer.rootsFile, ...env },
          ready,
        });
      };
    },
  );
