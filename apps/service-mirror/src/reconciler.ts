import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Change } from './desired/change.ts';
import { type DesiredSlice, hasReady } from './desired/objects.ts';
import { diffService, type ServiceChange } from './desired/diff-service.ts';
import { diffSlices, type Owner } from './desired/diff-slices.ts';
import { fitSlices } from './desired/fit-slices.ts';
import { allTried, KeyWriter, type KeyWriterOptions } from './local/writer.ts';
import type { LocalObjects } from './local/objects.ts';
import { nameOwnership } from './desired/name-ownership.ts';
import type { ClusterDiagnostic } from './desired/diagnostic.ts';
import type { ServiceKeys } from './remote/service-keys.ts';
import type { Targets } from './remote/targets.ts';
import type { Target } from './desired/target.ts';
import { ownAnnotations } from './desired/own-annotations.ts';
import { RefusedWrites } from './local/refused-writes.ts';
import { deletesBeside, partsOf, type SlicePart } from './desired/slice-parts.ts';

export type ServiceReconcilerOptions = {
  readonly local: Pick<LocalObjects, 'isSynced' | 'service' | 'slices' | 'endpoints'>;
  readonly keys: Pick<ServiceKeys, 'claimants' | 'sourcesOf'>;
  readonly targets: Pick<Targets, 'target'>;
  readonly write: KeyWriterOptions['write'];
  readonly onDiagnostics: (key: string, diagnostics: readonly ClusterDiagnostic[]) => void;
};

/** All that a key needs now, in phases: nothing of one begins before the one before it has ended. */
type Phases = {
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** The Service that is there, to which slices belong. */
  readonly owner: Owner | undefined;
  readonly service: ServiceChange | undefined;
  readonly slices: (owner: Owner | undefined) => SlicePhasesOfAll;
};

type SlicePhasesOfAll = SlicePart & {
  /** Of the slices that are there, none that stays as it is has a ready endpoint. */
  readonly isEmptied: boolean;
};

const NO_SLICES: SlicePhasesOfAll = { writes: [], adopted: [], deletes: [], isEmptied: false };

/** Makes the local Service of a key, and the slices of that, what the sources say. */
export class ServiceReconciler {
  readonly #options: ServiceReconcilerOptions;
  readonly #refused = new RefusedWrites();

  constructor(options: ServiceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const phases = this.#phases(key);
    const writer = new KeyWriter({ key, context, write: this.#options.write, refused: this.#refused });
    try {
      return await this.#carryOut(phases, writer);
    } finally {
      this.#refused.replace(key, writer.refused);
      const refused = writer.refused.map(({ why }) => problem(key, 'refused', why));
      const taken = writer.taken.map(({ why }) => problem(key, 'name-taken', why));
      this.#options.onDiagnostics(key, [...phases.diagnostics, ...refused, ...taken]);
    }
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly Change[] {
    const { diagnostics, service, slices, owner } = this.#phases(key);
    this.#options.onDiagnostics(key, diagnostics);
    const { writes, adopted, deletes } = slices(service?.kind === 'replace-service' ? undefined : owner);
    return [...(service === undefined ? [] : [service]), ...writes, ...adopted, ...deletes];
  }

  async #carryOut({ owner: there, service, slices }: Phases, writer: KeyWriter): Promise<Outcome> {
    let owner = there;
    const failures: unknown[] = [];
    if (service !== undefined) {
      const written = await writer.write(service).catch((error: unknown) => {
        if (service.kind !== 'update-service') throw error;
        failures.push(error);
        return undefined;
      });
      // Its slices are to stay. It ends when the garbage collector has let them go, and the watch tells of that: no rest
      // until then, for nothing answers at its address.
      if (service.kind === 'replace-service') return { wrote: false };
      if (written !== undefined) owner = { name: written.metadata.name, uid: written.metadata.uid };
      // Slices belong to a Service: there are none without.
      if (service.kind === 'create-service' && written === undefined) return { wrote: writer.wrote };
    }
    const { isEmptied, ...all } = slices(owner);
    // What comes waits for its Service. What only goes may be another cluster's than the one that makes the Service
    // fail, but it mustn't leave nothing where something comes.
    const parts = partsOf(all).filter(({ writes }) => failures.length === 0 || (writes.length === 0 && !isEmptied));
    await writeParts(parts, { isEmptied, writer }).catch((error: unknown) => failures.push(error));
    failures.push(...writer.taken.map(({ error }) => error));
    if (failures.length > 0) throw failures[0];
    return { wrote: writer.wrote };
  }

  #phases(key: string): Phases {
    const { local, keys, targets } = this.#options;
    const target = targets.target(key);
    if (!local.isSynced() || target === undefined) return nothing([]);
    const { name, wanted } = target;
    const cluster = key.slice(0, key.indexOf('/'));
    const fitting = typeof wanted === 'string' ? { slices: [], diagnostics: [] } : fitSlices(wanted.slices, cluster);
    const diagnostics = [...target.diagnostics, ...fitting.diagnostics];
    const observed = local.service(name);
    const ownership = nameOwnership({
      key,
      target,
      claimants: keys.claimants(name),
      observed,
      sources: observed === undefined ? [] : keys.sourcesOf(observed),
      isUnknown: (other) => targets.target(other)?.wanted === 'unknown',
    });
    if (!ownership.ok)
      return nothing(ownership.notice === undefined ? diagnostics : [...diagnostics, ownership.notice]);
    if (wanted === 'unknown' || (wanted === 'nothing' && target.keepsStale)) return nothing(diagnostics);
    // Somebody deletes it, and its end will be told by the watch; another can't be made before.
    if (observed?.isTerminating === true) return nothing(diagnostics);
    return {
      diagnostics,
      owner: observed && { name, uid: observed.uid },
      service: diffService(observed, wanted === 'nothing' ? undefined : wanted.service, ownAnnotations),
      slices: (owner) => this.#slicePhases(target, fitting.slices, owner),
    };
  }

  #slicePhases(
    target: Target,
    desired: readonly DesiredSlice[],
    owner: Owner = { name: target.name, uid: '' },
  ): SlicePhasesOfAll {
    const { name, isOurs, wanted, keepsEndpoints } = target;
    const { local } = this.#options;
    const observed = local.slices(name);
    const { writes, deletes: unwanted } = diffSlices(observed, desired, owner);
    const endpoints = local.endpoints(name);
    const stays =
      wanted !== 'nothing' && keepsEndpoints && (endpoints?.addresses.length ?? 0) > 0 && !desired.some(hasReady);
    const adopted: readonly Change[] =
      endpoints === undefined || stays || !isOurs(endpoints.labels)
        ? []
        : [{ kind: 'delete-endpoints', from: endpoints }];
    // What isn't ours has our name for it: another process's, with a prefix that spells the same.
    const deletes = unwanted.filter(({ from }) => isOurs(from.labels));
    const touched = new Set([...writes.map(({ to }) => to.name), ...deletes.map(({ from }) => from.name)]);
    const isEmptied = !observed.some((slice) => !touched.has(slice.name) && hasReady(slice));
    return { writes, adopted, deletes, isEmptied };
  }
}

type Writing = { readonly isEmptied: boolean; readonly writer: KeyWriter };

/**
 * Writes the slices of a Service: of each cluster those that come, then what a Go program had in their place, then
 * those that go. What fails of one cluster holds up no other.
 *
 * @param isEmptied the deletions would leave nothing ready: then they wait until all that comes was tried
 * @throws whatever made the first write fail, when all was tried
 */
async function writeParts(parts: readonly SlicePart[], { isEmptied, writer }: Writing): Promise<void> {
  const arrivals = parts.map(({ writes }) => writer.writeAll(writes));
  const arrived = Promise.allSettled(arrivals);
  const departures = parts.map(async ({ writes, adopted, deletes }, i) => {
    if (isEmptied) await arrived;
    await arrivals[i];
    // A slice that was refused, or whose name is taken, takes nobody's place.
    const unwritten = writes.filter((change) => !writer.isDone(change));
    if (unwritten.length === 0) await writer.writeAll(adopted);
    await writer.writeAll(deletesBeside(deletes, unwritten));
  });
  await allTried(departures);
}

const nothing = (diagnostics: readonly ClusterDiagnostic[]): Phases => ({
  diagnostics,
  owner: undefined,
  service: undefined,
  slices: () => NO_SLICES,
});

function problem(key: string, reason: string, detail: string): ClusterDiagnostic {
  return { cluster: key.slice(0, key.indexOf('/')), kind: 'problem', reason, detail };
}
