import { isTaken } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import { type KeyContext, refusalOf, type Unwritten } from '@kube-semaphore/multicluster';
import { type Change, objectOf } from '../endpoints/desired/diff/change.ts';
import { type DesiredSlice, hasReady } from '../endpoints/desired/objects.ts';
import { diffService, type ServiceChange } from '../endpoints/desired/diff/service.ts';
import { diffSlices, type Owner, ownerOf } from '../endpoints/desired/diff/slices.ts';
import { fitSlices } from '../endpoints/desired/fit-slices.ts';
import { memoize } from '@kube-semaphore/memoize';
import { isFallback } from '../endpoints/desired/routing/in-role.ts';
import type { ChangeContext } from './local/change-writer.ts';
import type { LocalObjects } from './local/objects.ts';
import { leftBehind } from './desired/left-behind.ts';
import type { Decisions } from '../endpoints/decisions.ts';
import type { Decision } from '../endpoints/desired/merged/decision.ts';
import { sourceOf } from '../endpoints/local/accounts.ts';
import type { GlobalParticipant } from './desired/globals/service.ts';
import { serviceNameLabel } from '../names.ts';
import { nameOwnership } from './desired/name-ownership.ts';
import { type ClusterDiagnostic, clusterOf, problemOf } from '../endpoints/desired/diagnostic.ts';
import type { ServiceKeys } from './service-keys.ts';
import type { Targets } from './targets.ts';
import type { Target } from '../endpoints/desired/target.ts';
import type { ObservedEndpoints } from '../endpoints/desired/observed.ts';
import {
  clusterOfWrite,
  deletesBeside,
  partsOf,
  type SlicePart,
  writesBeside,
} from '../endpoints/desired/diff/slice-parts.ts';
import { inFormOf, released, terminating } from '../endpoints/desired/terminating.ts';

export type ServiceReconcilerOptions = {
  readonly local: Pick<LocalObjects, 'isSynced' | 'service' | 'slice' | 'slices' | 'endpoints'>;
  readonly keys: Pick<ServiceKeys, 'claimants' | 'sourcesOf' | 'forgetSeen'>;
  readonly targets: Pick<Targets, 'target' | 'part'>;
  /** About global Services. */
  readonly decisions: Pick<Decisions<GlobalParticipant>, 'changedSlices' | 'keep' | 'forget'>;
  /** Makes a change. @returns a Service that was written */
  readonly write: (change: Change, context: ChangeContext) => Promise<Service | undefined>;
  readonly clusters: { diagnose(key: string, diagnostics: readonly ClusterDiagnostic[]): void };
};

/** The changes of a key, in phases: each begins when the one before has ended. */
type Phases = {
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** No source wants the key, and nothing local has its name. */
  readonly isGone: boolean;
  /** Of a global Service: what the clusters have. */
  readonly parts: readonly GlobalParticipant[];
  /** Of a global Service: undefined if a change of endpoints may change more. */
  readonly decision: Decision<GlobalParticipant> | undefined;
  /** The Service to which slices belong: without a UID if it is to be created, undefined while it is being deleted. */
  readonly owner: Owner | undefined;
  readonly service: ServiceChange | undefined;
  /** Of the existing Service. */
  readonly ports: readonly { readonly name: string }[];
  readonly slices: (owner: Owner | undefined) => SlicePhasesOfAll;
};

const fitOnce = memoize(fitSlices);

type WriteContext = KeyContext & { readonly key: string } & Pick<Phases, 'parts'>;

type SliceInput = {
  readonly desired: readonly DesiredSlice[];
  readonly owner: Owner | undefined;
  /** Endpoints that stay for now. */
  readonly retained: ObservedEndpoints | undefined;
};

type SlicePhasesOfAll = SlicePart & {
  /** No slice that stays unchanged has a ready endpoint. */
  readonly isEmptied: boolean;
};

/** Makes the local Service of a key, and its slices, what the sources say. */
export class ServiceReconciler {
  readonly #options: ServiceReconcilerOptions;

  constructor(options: ServiceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: KeyContext): Promise<void> {
    const { decisions, clusters, keys } = this.#options;
    const { writes } = context;
    if (await this.#changeEndpoints(key, context)) return;
    const phases = this.#phases(key);
    if (phases.isGone) keys.forgetSeen(key);
    if (phases.decision !== undefined) decisions.keep(key, phases.decision);
    await this.#carryOut(phases, { key, parts: phases.parts, ...context });
    if (writes.unwritten.length > 0) decisions.forget(key);
    clusters.diagnose(key, [...phases.diagnostics, ...writes.unwritten.flatMap((each) => problemsOf(key, each))]);
  }

  /**
   * Writes the slices whose endpoints changed, if nothing else did since the last decision about a global Service.
   *
   * @returns whether all is done
   */
  async #changeEndpoints(key: string, context: KeyContext): Promise<boolean> {
    const { local, decisions, targets } = this.#options;
    const changed = decisions.changedSlices(key, (cluster) => targets.part(key, cluster));
    if (changed === undefined) return false;
    const { slices: desired, parts } = changed;
    const [first] = desired;
    const service = first && local.service(first.labels[serviceNameLabel]!);
    if (service === undefined) return desired.length === 0;
    const observed = desired.flatMap(({ name }) => local.slice(name) ?? []);
    const phases = { ...diffSlices(observed, desired, ownerOf(service)), adopted: [] };
    const limits = { isEmptied: false, mayWrite: new Set<Change>(phases.writes) };
    await this.#writeParts(partsOf(phases), limits, { key, parts, ...context });
    if (context.writes.unwritten.length === 0) return true;
    decisions.forget(key);
    return false;
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly Change[] {
    const phases = this.#phases(key);
    this.#options.clusters.diagnose(key, phases.diagnostics);
    return changesOf(phases);
  }

  async #carryOut({ owner: existing, service, ports, slices }: Phases, context: WriteContext): Promise<void> {
    const written = service && (await this.#write(service, context));
    const isWritten = service === undefined || written !== undefined;
    // Its slices stay. The watch reports when the garbage collector has released them, and the Service is gone.
    if (service?.kind === 'replace-service' && isWritten) return;
    // Slices need a Service to belong to.
    if (service?.kind === 'create-service' && !isWritten) return;
    const uid = written?.answer?.metadata.uid;
    const owner = existing && uid !== undefined ? { ...existing, uid } : existing;
    const { isEmptied, ...all } = slices(owner);
    const writes = isWritten ? all.writes : writesBeside(all.writes, ports);
    await this.#writeParts(partsOf(all), { isEmptied, mayWrite: new Set(writes) }, context);
  }

  /**
   * Writes the slices of a Service, each cluster by itself: first its writes, then the deletes of what a Go program made, then
   * its deletes. What one cluster's writes come to decides nothing about another, but fallbacks wait until the others were tried.
   *
   * @param limits `isEmptied`: the deletes would leave no ready endpoint, so they wait until all writes were tried
   */
  async #writeParts(
    parts: readonly SlicePart[],
    { isEmptied, mayWrite }: { readonly isEmptied: boolean; readonly mayWrite: ReadonlySet<Change> },
    context: WriteContext,
  ): Promise<void> {
    const writeAll = (changes: readonly Change[]) => Promise.all(changes.map((change) => this.#write(change, context)));
    const allowed = parts.map(({ writes }) => writes.filter((change) => mayWrite.has(change)));
    const preferred = allowed.map((writes) => writeAll(writes.filter(({ to }) => !isFallback(to))));
    // One wait for all: one of each cluster for each other one would be quadratic.
    const allPreferred = Promise.all(preferred);
    const writing = allowed.map(async (writes, i) => {
      const fallbacks = writes.filter(({ to }) => isFallback(to));
      await (fallbacks.length > 0 ? allPreferred : preferred[i]);
      await writeAll(fallbacks);
    });
    const allWritten = Promise.all(writing);
    const deleting = parts.map(async ({ writes, adopted, deletes }, i) => {
      await (isEmptied ? allWritten : writing[i]);
      // A slice that wasn't written replaces nothing.
      const unwritten = writes.filter((change) => !context.writes.isMade(change));
      if (unwritten.length === 0) await writeAll(adopted);
      await writeAll(deletesBeside(deletes, unwritten, { isLast: isEmptied }));
    });
    await Promise.all([allPreferred, allWritten, ...deleting]);
  }

  #write(change: Change, { key, since, writes, parts }: WriteContext) {
    const send = () => this.#options.write(change, { key, since, source: sourceOf(change, parts) });
    // Nothing answers at the address of a replaced Service until its successor is there.
    return writes.write({ object: objectOf(change), change, send, isPaced: change.kind !== 'replace-service' });
  }

  #phases(key: string): Phases {
    const { local, keys, targets } = this.#options;
    const target = targets.target(key);
    if (!local.isSynced() || target === undefined) return noChange([]);
    const { name, wanted } = target;
    const cluster = clusterOf(key);
    const fitting = typeof wanted === 'string' ? { slices: [], diagnostics: [] } : fitOnce(wanted.slices, cluster);
    const diagnostics = [...target.diagnostics, ...fitting.diagnostics];
    const observed = local.service(name);
    const sources = observed === undefined ? [] : keys.sourcesOf(observed);
    const claimants = keys.claimants(name);
    const ownership = nameOwnership({
      key,
      target,
      claimants,
      observed,
      sources,
      isUnknown: (other) => targets.target(other)?.wanted === 'unknown',
    });
    if (!ownership.ok) return noChange([...diagnostics, ...ownership.diagnostics]);
    if (observed !== undefined) diagnostics.push(...terminating(key, `Service ${name}`, observed));
    if (wanted === 'unknown') return noChange(diagnostics);
    const isTerminating = observed?.isTerminating === true;
    const fit = wanted === 'nothing' ? undefined : { service: wanted.service, slices: fitting.slices };
    const objects = fit && isTerminating ? inFormOf(observed, fit) : fit;
    const retained = this.#retainedEndpoints(target, objects?.slices ?? []);
    if (retained !== undefined) diagnostics.push(endpointsRetained(key, retained));
    const isWhole = fitting.diagnostics.length === 0 && !isTerminating && !target.retainsUnseen;
    const here = [observed, local.endpoints(name), ...local.slices(name)].filter((each) => each !== undefined);
    const isGone = wanted === 'nothing' && here.length === 0;
    const phases: Phases = {
      diagnostics,
      isGone,
      parts: target.participants ?? [],
      decision: isWhole ? target.decision : undefined,
      owner: observed === undefined ? { name, uid: '' } : ownerOf(observed),
      ports: observed?.definition.ports ?? [],
      // Another Service can't be created before this one is gone, which the watch reports.
      service: isTerminating && objects === undefined ? undefined : diffService(observed, objects?.service),
      slices: (owner) => this.#slicePhases(target, { desired: objects?.slices ?? [], owner, retained }),
    };
    if (!target.retainsUnseen) return phases;
    // Several keys may have its name; only one of them reports it.
    const [first = key] = [...claimants, ...sources.filter((source) => targets.target(source) !== undefined)];
    return { ...noChange([...diagnostics, ...(first === key ? leftBehind(key, changesOf(phases)) : [])]), isGone };
  }

  /** The Endpoints of a Go program that stay for now, if there are any. */
  #retainedEndpoints(
    { name, isOurs, wanted, retainsEndpoints }: Target,
    desired: readonly DesiredSlice[],
  ): ObservedEndpoints | undefined {
    const from = this.#options.local.endpoints(name);
    if (from === undefined || from.addresses.length === 0 || !isOurs(from.labels)) return undefined;
    return wanted !== 'nothing' && retainsEndpoints && !desired.some(hasReady) ? from : undefined;
  }

  #slicePhases({ name, isOurs }: Target, { desired, owner, retained }: SliceInput): SlicePhasesOfAll {
    const { local } = this.#options;
    const observed = released(local.service(name), local.slices(name));
    const { writes, deletes: unwanted } = diffSlices(observed, desired, owner);
    const from = local.endpoints(name);
    const isAdopted = from !== undefined && retained === undefined && isOurs(from.labels);
    // Slices of another process may be among them, if its prefix makes the same name.
    const deletes = unwanted.filter((change) => isOurs(change.from.labels));
    const changed = new Set([...writes.map(({ to }) => to.name), ...deletes.map((change) => change.from.name)]);
    const isEmptied = !observed.some((slice) => !changed.has(slice.name) && hasReady(slice));
    return { writes, adopted: isAdopted ? [{ kind: 'delete-endpoints', from }] : [], deletes, isEmptied };
  }
}

/** What a user has to know about a change that wasn't made. */
function problemsOf(key: string, { change, error }: Unwritten): readonly ClusterDiagnostic[] {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return [{ ...refusal, cluster: clusterOfWrite(key, change) }];
  const { kind, to } = change as Extract<Change, { readonly kind: 'create-slice' }>;
  // `writeChange` has updated the slice if it was ours. No event reports when the other is gone.
  if (kind !== 'create-slice' || !isTaken(error)) return [];
  return [problemOf(key, 'name-taken', `the EndpointSlice ${to.name} exists, and isn't ours`)];
}

function endpointsRetained(key: string, { name, addresses }: ObservedEndpoints): ClusterDiagnostic {
  const count = addresses.length === 1 ? '1 address' : `${addresses.length} addresses`;
  const why = 'while its source has no ready endpoint: its list may be incomplete';
  const detail = `the Endpoints ${name} of the Go program stay, with ${count}, ${why}`;
  return { ...problemOf(key, 'endpoints-retained', detail), kind: 'expected' };
}

/** All changes, in the order in which they are made. */
function changesOf({ service, slices, owner }: Phases): readonly Change[] {
  const { writes, adopted, deletes } = slices(
    service?.kind === 'replace-service' ? owner && { ...owner, uid: '' } : owner,
  );
  return [...(service === undefined ? [] : [service]), ...writes, ...adopted, ...deletes];
}

const noChange = (diagnostics: readonly ClusterDiagnostic[]): Phases => ({
  diagnostics,
  isGone: false,
  parts: [],
  decision: undefined,
  owner: undefined,
  service: undefined,
  ports: [],
  slices: () => ({ writes: [], adopted: [], deletes: [], isEmptied: false }),
});
