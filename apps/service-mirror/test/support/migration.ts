import { accountInNamespace, controllers, GoProgram, goRemoteRules, goRules, type GoSource } from './go/program.ts';
import { itBehindProxy } from './it.ts';
import type { RemoteServices } from './remote-services.ts';

/** The warning about the Go program's flags and files, which can't restrict a remote. */
export const UNRESTRICTED = 'remote may announce any address: set its allowedPodCIDRs (-allowed-pod-cidrs)';

/** A test with the Go program, and then ours, under the roles of the Go program's manifests. */
export const it = itBehindProxy
  .extend('localOptions', { scope: 'file' }, () => ({ controllers }))
  .extend('goAccount', { scope: 'file' }, ({ local }) => accountInNamespace(local, 'go', goRules.latest))
  .extend('goRemoteAccount', { scope: 'file' }, ({ remote }) => remote.account('go', goRemoteRules.latest))
  .extend('goProgram', ({ local, goAccount }) => new GoProgram(local, goAccount))
  /** Its flags and variables; only the listen address is ours. */
  .extend('goStart', ({ goAccount, goRemoteAccount, startWith }) => {
    return ({
      flags = [],
      env = {},
      ready = true,
    }: { flags?: readonly string[]; env?: Readonly<Record<string, string>>; ready?: boolean } = {}) =>
      startWith(
        [
          `-kube-config=${goAccount.kubeconfig}`,
          '--mirror-ns',
          'sys-semaphore',
          '-svc-sync=true',
          '-resync-period=60m',
          '-listen-address=127.0.0.1:0',
          ...flags,
        ],
        {
          env: {
            SSM_TARGET_KUBE_CONFIG: goRemoteAccount.kubeconfig,
            SSM_SVC_PREFIX: 'c2',
            SSM_LABEL_SELECTOR: 'mirror=true',
            SSM_LOG_LEVEL: 'info',
            ...env,
          },
          ready,
        },
      );
  });

/** Creates the Services that a Go program saw, with the slices that their cluster's own controllers would create. */
export async function addSources(sources: RemoteServices, all: readonly GoSource[]): Promise<void> {
  for (const { name, headless = false, addresses, ports } of all) {
    await sources.add({ name, headless, ...(ports && { ports }) });
    const slicePorts = ports && {
      ports: ports.map((port) => ({ name: port.name, port: port.targetPort, protocol: 'TCP' })),
    };
    const families = [addresses.filter((ip) => !ip.includes(':')), addresses.filter((ip) => ip.includes(':'))];
    for (const [i, endpoints] of families.entries()) {
      if (endpoints.length > 0)
        await sources.addSlice({ name: `${name}-${i}`, service: name, endpoints, ...slicePorts });
    }
  }
}
