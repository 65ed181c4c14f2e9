import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type LeaseTimes, type RealCluster, ReplicaPair } from '@kube-semaphore/testkit';
import { localRules, remoteRules } from './accounts.ts';
import { LocalServices } from './local-services.ts';
import { argvOf, spawnMirror, usualFlags } from './mirror-process.ts';
import { RemoteServices } from './remote-services.ts';

/** Two replicas of a mirror, and their sources. */
export class MirrorPair {
  readonly replicas: ReplicaPair;
  readonly sources: RemoteServices;
  readonly #local: RealCluster;
  readonly #prefix: string;

  private constructor({ replicas, local, remote }: { replicas: ReplicaPair; local: RealCluster; remote: TestCluster }) {
    this.replicas = replicas;
    this.#local = local;
    this.#prefix = remote.name;
    this.sources = new RemoteServices(remote);
  }

  /** Starts both at once. Pairs with different remote names don't conflict. */
  static async start(local: RealCluster, remote: TestCluster, times?: LeaseTimes): Promise<MirrorPair> {
    const reader = await remote.account('reader', remoteRules);
    const replicas = await ReplicaPair.start({
      local,
      ...(times && { times }),
      name: remote.name,
      rules: localRules,
      resources: ['services', 'endpointslices', 'endpoints'],
      leaseName: `semaphore-service-mirror-${remote.name}`,
      spawn: (writer, flags) =>
        spawnMirror(argvOf({ ...usualFlags({ local: writer, remote: reader }), 'svc-prefix': remote.name, ...flags })),
    });
    return new MirrorPair({ replicas, local, remote });
  }

  /** Makes changes all the time from now on. */
  async beBusy(): Promise<void> {
    await this.sources.add({ name: 'busy' });
    await this.sources.addSlice({ name: 'busy-a', service: 'busy', endpoints: [] });
    this.replicas.beBusy((count) =>
      this.sources.patch(
        'endpointslices',
        { name: 'busy-a' },
        { endpoints: [{ addresses: [`10.4.${count >> 8}.${(count & 127) + 1}`] }] },
      ),
    );
  }

  /** The names of the expected mirrors, sorted. */
  async mirrorNames(): Promise<readonly string[]> {
    const names = (await new LocalServices(this.#local).services()).map(({ metadata }) => metadata.name);
    return names.filter((name) => name.startsWith(`${this.#prefix}-`)).toSorted();
  }

  /** The name of the mirror of one Service. */
  mirrorName(name: string): string {
    return `${this.#prefix}-default-73736d-${name}`;
  }
}
