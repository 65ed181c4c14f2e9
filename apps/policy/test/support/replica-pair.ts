import { setInterval } from 'node:timers/promises';
import {
  eventually,
  type AuditEvent,
  type FaultProxy,
  type RealCluster,
  startFaultProxy,
  type TestCluster,
} from '@kube-semaphore/testkit';
import { leaseRules, localRules, remoteRules } from './accounts.ts';
import { type AuditedWrite, writesOf } from './audit-trail.ts';
import { argvOf, usualFlags } from './command-line.ts';
import { Pods } from './pods.ts';
import { type PolicyProcess, spawnPolicy } from './policy-process.ts';
import { Sets } from './sets.ts';

/** One of the two, and the account by which the API server knows it. */
export type Replica = { readonly account: string; readonly policy: PolicyProcess };

/** The two by what they do. */
export type Roles = { readonly leader: Replica; readonly standby: Replica };

const NAMESPACE = 'kube-system';

/** A pod's address changes so often while nothing else does, so that whoever leads has something to write. */
const BUSY_MS = 100;

/** What a pair is made of. */
type Parts = {
  readonly local: RealCluster;
  readonly remote: TestCluster;
  readonly line: FaultProxy;
  readonly replicas: readonly Replica[];
};

/** Two replicas of a policy as a Deployment runs them, with the usual times, and each with an account of its own. */
export class ReplicaPair {
  readonly pods: Pods;
  /** By this both reach the remote cluster. */
  readonly line: FaultProxy;
  readonly #local: RealCluster;
  readonly #remote: TestCluster;
  readonly #replicas: readonly Replica[];
  readonly #quiet = new AbortController();
  #busy = Promise.resolve();

  private constructor({ local, remote, line, replicas }: Parts) {
    this.#local = local;
    this.#remote = remote;
    this.line = line;
    this.#replicas = replicas;
    this.pods = new Pods(remote);
  }

  /** Starts both at once. Pairs whose remotes have different names don't get into each other's way. */
  static async start(local: RealCluster, remote: TestCluster): Promise<ReplicaPair> {
    const line = await startFaultProxy(remote);
    const reader = await remote.account('reader', remoteRules);
    const replicas = ['first', 'second'].map(async (name): Promise<Replica> => {
      const account = `${remote.name}-${name}`;
      const writer = await local.account(account, [...localRules, ...leaseRules]);
      const argv = argvOf({
        ...usualFlags({ local: writer, remote: reader }),
        'target-kube-config': await line.kubeconfig(reader),
        'target-cluster-name': remote.name,
        'leader-elect': 'true',
        'lease-namespace': NAMESPACE,
      });
      return { account, policy: spawnPolicy(argv) };
    });
    return new ReplicaPair({ local, remote, line, replicas: await Promise.all(replicas) });
  }

  /** Waits until both are ready, and tells them apart: which one leads is a matter of luck. */
  async roles(): Promise<Roles> {
    await Promise.all(this.#replicas.map(({ policy }) => policy.ready()));
    const leads = ({ policy }: Replica): boolean => policy.log().some(({ msg }) => msg === 'leading');
    await eventually(() => this.#replicas.some(leads), true);
    const leader = this.#replicas.find(leads)!;
    return { leader, standby: this.#replicas.find((replica) => replica !== leader)! };
  }

  /** From now on there is always something to write. */
  async beBusy(): Promise<void> {
    await this.pods.add({ name: 'busy', app: 'busy', ips: ['10.4.0.0'] });
    this.#busy = this.#changeAddresses();
  }

  /** Names of the sets that the pair is there for, sorted. */
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

  /** What the pair tried to write, and what it was answered. */
  async writes(resource: 'globalnetworksets' | 'leases'): Promise<AuditedWrite[]> {
    return writesOf(await this.events(), { accounts: this.#replicas.map(({ account }) => account), resource });
  }

  /** All that the local API server was asked, by whomever. */
  events(): Promise<AuditEvent[]> {
    return this.#local.auditLog();
  }

  /** What is in the Lease. */
  async lease(): Promise<{ readonly holderIdentity: string; readonly leaseTransitions: number }> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/semaphore-policy-${this.#remote.name}`;
    const { holderIdentity, leaseTransitions } = (await this.#local.admin.get(path))['spec'] as {
      holderIdentity: string;
      leaseTransitions: number;
    };
    return { holderIdentity, leaseTransitions };
  }

  /** Ends both, also one that sleeps. Returns what they printed. */
  async stop(): Promise<readonly string[]> {
    this.#quiet.abort();
    await Promise.all([this.#busy, ...this.#replicas.map(({ policy }) => policy.stop('SIGKILL'))]);
    await this.line.stop();
    return this.#replicas.map(({ account, policy }) => `${account}:\n${policy.stderr()}`);
  }

  async #changeAddresses(): Promise<void> {
    let count = 0;
    try {
      for await (const _ of setInterval(BUSY_MS, undefined, { signal: this.#quiet.signal })) {
        count += 1;
        await this.pods.setStatus('busy', { ips: [`10.4.${count >> 8}.${count & 255}`] });
      }
    } catch (error) {
      // That is how such an interval ends.
      if (!this.#quiet.signal.aborted) throw error;
    }
  }
}
