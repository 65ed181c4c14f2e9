import type { Left } from '@kube-semaphore/app';
import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Service } from '@kube-semaphore/kube-objects';
import { serviceNameProblem } from '@kube-semaphore/naming';
import type { Change } from './change.ts';
import type { DesiredObjects } from './desired.ts';
import { diffService, type ServiceChange } from './diff-service.ts';
import { diffSlices } from './diff-slices.ts';
import type { LocalObjects } from './local-objects.ts';
import type { ObservedService } from './observed.ts';
import { ownAnnotations } from './own-annotations.ts';
import type { Owner } from './object-writer.ts';

/** What a key stands for now. */
export type Target = {
  /** Of the local Service. */
  readonly name: string;
  /** Whether a Service of this name with these labels is one that this key may change. */
  readonly isOurs: (labels: Readonly<Record<string, string>>) => boolean;
  /** What should be there. `unknown`: a source isn't known, and what is there stays as it is. */
  readonly wanted: 'unknown' | 'nothing' | DesiredObjects;
  /** Nothing may be deleted: it was left behind by an earlier process, and we were told to leave such things. */
  readonly keepsStale: boolean;
  /** What is worth knowing about it, by cluster. */
  readonly notices: readonly (Left & { readonly cluster: string })[];
};

export type ServiceReconcilerOptions = {
  readonly local: LocalObjects;
  readonly target: (key: string) => Target | undefined;
  /** The keys that want a name, the one that has it first. */
  readonly claimants: (name: string) => readonly string[];
  /** Carries out a change. A Service that is written is returned. */
  readonly write: (change: Change, context: ReconcileContext) => Promise<Service | undefined>;
  readonly onNotices: (key: string, notices: Target['notices']) => void;
};

/** All that a key needs now, in phases: nothing of one begins before the one before it has ended. */
export type Phases = { readonly service: ServiceChange | undefined; readonly slices: (owner: Owner | undefined) => readonly (readonly Change[])[] };

const NOTHING: Phases = { service: undefined, slices: () => [] };

/** Makes the local Service of a key, and the slices of that, what the sources say. */
export class ServiceReconciler {
  readonly #options: ServiceReconcilerOptions;

  constructor(options: ServiceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const { service, slices } = this.#phases(key);
    let owner = ownerOf(this.#observed(key));
    let wrote = false;
    if (service?.kind === 'replace-service') {
      await this.#options.write(service, context);
      // Its slices are to stay. It ends when the garbage collector has let them go, and the watch tells of that: no rest
      // until then, for nothing answers at its address.
      return { wrote: false };
    }
    if (service !== undefined) {
      const written = await this.#options.write(service, context);
      owner = written === undefined ? undefined : { name: written.metadata.name, uid: written.metadata.uid };
      wrote = true;
    }
    for (const phase of slices(owner)) {
      await this.#writePhase(phase, context);
      wrote = true;
    }
    return { wrote };
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly Change[] {
    const { service, slices } = this.#phases(key);
    const owner = service?.kind === 'create-service' || service?.kind === 'replace-service' ? undefined : ownerOf(this.#observed(key));
    return [...(service === undefined ? [] : [service]), ...slices(owner).flat()];
  }

  #observed(key: string): ObservedService | undefined {
    const target = this.#options.target(key);
    return target && this.#options.local.service(target.name);
  }

  #phases(key: string): Phases {
    const { local, target: targetOf, onNotices } = this.#options;
    const target = targetOf(key);
    if (!local.synced || target === undefined) return NOTHING;
    const { name, wanted } = target;
    const refusal = this.#refusal(key, target);
    onNotices(key, refusal === undefined ? target.notices : [...target.notices, refusal]);
    if (refusal !== undefined || wanted === 'unknown') return NOTHING;
    const observed = local.service(name);
    // Somebody deletes it, and its end will be told by the watch; another can't be made before.
    if (observed?.isTerminating === true) return NOTHING;
    const desired = wanted === 'nothing' ? undefined : wanted;
    if (desired === undefined && target.keepsStale) return NOTHING;
    return {
      service: diffService(observed, desired?.service, ownAnnotations),
      slices: (owner) => this.#slicePhases(name, desired, owner),
    };
  }

  /** Slices that come, then what a Go program had in their place, then slices that go. */
  #slicePhases(name: string, desired: DesiredObjects | undefined, owner: Owner | undefined): readonly (readonly Change[])[] {
    const { local } = this.#options;
    const { writes, deletes } = diffSlices(local.slices(name), desired?.slices ?? [], owner ?? { name, uid: '' });
    const endpoints = local.endpoints(name);
    const adopted: readonly Change[] = endpoints === undefined ? [] : [{ kind: 'delete-endpoints', from: endpoints }];
    return [writes, adopted, deletes].filter((phase) => phase.length > 0);
  }

  /** Why the key may have nothing at all. */
  #refusal(key: string, { name, isOurs, wanted }: Target): Target['notices'][number] | undefined {
    const cluster = key.slice(0, key.indexOf('/'));
    if (wanted === 'nothing') return undefined;
    const problem = serviceNameProblem(name);
    if (problem?.reason === 'name-too-long') return left(cluster, problem.reason, `${name} is ${problem.excess} characters too long for a Service`);
    if (problem !== undefined) return left(cluster, problem.reason, `${name} is no name of a Service`);
    const [holder] = this.#options.claimants(name);
    if (holder !== undefined && holder !== key) return left(cluster, 'name-taken', `${name} is that of ${holder}, which is older`);
    const observed = this.#options.local.service(name);
    if (observed !== undefined && !isOurs(observed.labels)) return left(cluster, 'name-taken', `there is a Service ${name} that isn't ours`);
    return undefined;
  }

  /** All changes are tried; then the first that failed is thrown, so that no later phase begins. */
  async #writePhase(phase: readonly Change[], context: ReconcileContext): Promise<void> {
    const results = await Promise.allSettled(phase.map((change) => this.#options.write(change, context)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

const ownerOf = (service: ObservedService | undefined): Owner | undefined => service && { name: service.name, uid: service.uid };

const left = (cluster: string, reason: string, detail: string) => ({ cluster, kind: 'problem', reason, detail }) as const;
