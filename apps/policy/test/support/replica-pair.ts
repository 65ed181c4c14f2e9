import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { type RealCluster, ReplicaPair, type ReplicaPairOptions } from '@kube-semaphore/testkit';
import { localRules, remoteRules } from './accounts.ts';
import { argvOf, usualFlags } from './command-line.ts';
import { Pods } from './pods.ts';
import { spawnPolicy } from './policy-process.ts';
import { Sets } from './sets.ts';

/** Two replicas of a policy, and their remote. */
export class PolicyPair {
  readonly replicas: ReplicaPair;
  readonly pods: Pods;
  readonly #local: RealCluster;
  readonly #remote: TestCluster;

  private constructor({ replicas, local, remote }: { replicas: ReplicaPair; local: RealCluster; remote: TestCluster }) {
    this.replicas = replicas;
    this.#local = local;
    this.#remote = remote;
    this.pods = new Pods(remote);
  }

  /** Starts both. Pairs with remotes of different names are independent. */
  static async start(
    local: RealCluster,
    remote: TestCluster,
    options: Pick<ReplicaPairOptions, 'times' | 'flags'> = {},
  ): Promise<PolicyPair> {
    const reader = await remote.account('reader', remoteRules);
    const replicas = await ReplicaPair.start({
      local,
      ...options,
      name: remote.name,
      rules: localRules,
      resources: ['globalnetworksets'],
      leaseName: `semaphore-policy-${remote.name}`,
      spawn: (writer, flags) =>
        spawnPolicy(
          argvOf({ ...usualFlags({ local: writer, remote: reader }), 'target-cluster-name': remote.name, ...flags }),
        ),
    });
    return new PolicyPair({ replicas, local, remote });
  }

  /** Causes writes from now on. */
  async beBusy(): Promise<void> {
    await this.pods.add({ name: 'busy', app: 'busy', ips: ['10.4.0.0'] });
    this.replicas.beBusy((count) => this.pods.setStatus('busy', { ips: [`10.4.${count >> 8}.${count & 255}`] }));
  }

  /** Names of the pair's sets, sorted. */
  async setNames(): Promise<readonly string[]> {
    const sets = await new Sets(this.#local).list();
    return sets
      .filter(({ labels }) => labels['semaphore.uw.systems/cluster'] === this.#remote.name)
      .map(({ name }) => name);
  }

  /** The name of the set of one app. */
  setName(app: string): string {
    return `${this.#remote.name}-default-${app}`;
  }
}
