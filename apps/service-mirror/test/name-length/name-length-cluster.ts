import type { Answer } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { type Case, everyLabel, type Group } from './cases.ts';
import { serviceOf } from './service.ts';
import type { Change, Parameters, Version } from './refusals.ts';

const POLICY = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/semaphore-mirror-name-length';
const PARAMETERS = '/apis/mirror.semaphore.uw.io/v1/mirrornamelengths';
const DENIED =
  "ValidatingAdmissionPolicy 'semaphore-mirror-name-length' with binding 'semaphore-mirror-name-length' denied request: ";

/** A name that any parameters refuse. */
const hopeless = { namespace: 'default', service: 'x'.repeat(63), after: { labels: everyLabel } };

/** A cluster with the policy, installed as in docs/admission.md. */
export class NameLengthCluster {
  readonly cluster: RealCluster;

  private constructor(cluster: RealCluster) {
    this.cluster = cluster;
  }

  /** Resolves once the policy with the parameters of the page is in force. */
  static async start(namespaces: ReadonlySet<string>): Promise<NameLengthCluster> {
    const cluster = await startRealCluster({
      name: 'c1',
      controllerManager: ['validatingadmissionpolicy-status-controller'],
    });
    try {
      const started = new NameLengthCluster(cluster);
      for (const name of namespaces)
        await cluster.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      for (const commands of docBlocks('admission.md', 'With a ValidatingAdmissionPolicy'))
        await bash(commands, cluster);
      await started.#refusesHopeless(true);
      return started;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** The policy's message for each case of a group, by name; '' if it is allowed. */
  async judge({ parameters, cases }: Group): Promise<Readonly<Record<string, string>>> {
    await this.forget();
    for (const each of cases)
      if (each.before !== undefined) await this.cluster.admin.create(pathOf(each), serviceOf(each, each.before));
    await this.configure(parameters);
    const judged: Record<string, string> = {};
    for (const each of cases) judged[each.name] = saidOf(await this.#attempt(each));
    return judged;
  }

  /** Leaves the policy without parameters. */
  async forget(): Promise<void> {
    await this.cluster.admin.delete(PARAMETERS);
    await this.#refusesHopeless(false);
  }

  async configure(spec: Parameters): Promise<void> {
    await this.cluster.admin.create(PARAMETERS, {
      apiVersion: 'mirror.semaphore.uw.io/v1',
      kind: 'MirrorNameLength',
      metadata: { name: 'mirror-name-length' },
      spec,
    });
    await this.#refusesHopeless(true);
  }

  /** The policy's message for a new Service, by a dry run. */
  async create(service: Pick<Change, 'namespace' | 'service'>, version: Version): Promise<string> {
    return saidOf(
      await this.cluster.admin.request('POST', `${pathOf(service)}?dryRun=All`, serviceOf(service, version)),
    );
  }

  /** Leaves the policy with parameters of a kind that doesn't exist. */
  async loseKind(): Promise<void> {
    const { status } = await this.cluster.admin.request('PATCH', POLICY, {
      spec: { paramKind: { kind: 'NotYetKnown' } },
    });
    if (status !== 200) throw new Error(`the policy can't be changed: ${status}`);
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  #attempt(each: Case): Promise<Answer> {
    const { admin } = this.cluster;
    const object = serviceOf(each, each.after);
    if (each.before === undefined) return admin.request('POST', `${pathOf(each)}?dryRun=All`, object);
    return admin.request('PUT', `${pathOf(each)}/${each.service}?dryRun=All`, object);
  }

  /** The API server discovers new kinds only every 30 s. */
  #refusesHopeless(expected: boolean): Promise<void> {
    return eventually(async () => (await this.create(hopeless, hopeless.after)) !== '', expected);
  }
}

const pathOf = ({ namespace }: Pick<Change, 'namespace'>): string => `/api/v1/namespaces/${namespace}/services`;

/** A policy's message. @throws {Error} for an answer that is neither consent nor its refusal */
function saidOf({ status, body }: Answer): string {
  if (status < 300) return '';
  const message = String(body['message']);
  const start = message.indexOf(DENIED);
  if (start < 0) throw new Error(`${status} ${message}`);
  return message.slice(start + DENIED.length);
}
