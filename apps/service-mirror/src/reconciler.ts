import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Change } from './desired/diff/change.ts';
import { type DesiredSlice, hasReady } from './desired/objects.ts';
import { diffService, type ServiceChange } from './desired/diff/service.ts';
import { diffSlices, type Owner } from './desired/diff/slices.ts';
import { fitSlices } from './desired/fit-slices.ts';
import { allTried, KeyWriter, type KeyWriterOptions } from './local/writer.ts';
import type { LocalObjects } from './local/objects.ts';
import { nameOwnership } from './desired/name-ownership.ts';
import type { ClusterDiagnostic } from './desired/diagnostic.ts';
import type { ServiceKeys } from './remote/service-keys.ts';
import type { Targets } from './remote/targets.ts';
import type { Target } from './desired/target.ts';
import { RefusedWrites } from './local/refused-writes.ts';
import { deletesBeside, partsOf, type SlicePart } from './desired/diff/slice-parts.ts';

export type ServiceReconcilerOptions = {
  readonly local: Pick<LocalObjects, 'isSynced' | 'service' | 'slices' | 'endpoints'>;
  readonly keys: Pick<ServiceKeys, 'claimants' | 'sourcesOf'>;
  readonly targets: Pick<Targets, 'target'>;
  readonly write: KeyWriterOptions['write'];
  readonly onDiagnostics: (key: string, diagnostics: readonly ClusterDiagnostic[]) => void;
};

/** The changes of a key, in phases: each begins when the one before has ended. */
type Phases = {
  readonly diagnostics: readonly ClusterDiagnostic[];
  /** The existing Service, to which slices belong. */
  readonly owner: Owner | undefined;
  readonly service: ServiceChange | undefined;
  readonly slices: (owner: Owner | undefined) => SlicePhasesOfAll;
};

type SlicePhasesOfAll = SlicePart & {
  /** No slice that stays unchanged has a ready endpoint. */
  readonly isEmptied: boolean;
};

/** Makes the local Service of a key, and its slices, what the sources say. */
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
      this.#options.onDiagnostics(key, [...phases.diagnostics, ...writer.diagnostics]);
    }
  }

  /** What a reconcile of the key would write now. */
  plan(key: string): readonly Change[] {
    const { diagnostics, service, slices, owner } = this.#phases(key);
    this.#options.onDiagnostics(key, diagnostics);
    const { writes, adopted, deletes } = slices(service?.kind === 'replace-service' ? undefined : owner);
    return [...(service === undefined ? [] : [service]), ...writes, ...adopted, ...deletes];
  }

  async #carryOut({ owner: existing, service, slices }: Phases, writer: KeyWriter): Promise<Outcome> {
    let owner = existing;
    const failures: unknown[] = [];
    if (service !== undefined) {
      const written = await writer.write(service).catch((error: unknown) => {
        if (service.kind !== 'update-service') throw error;
        failures.push(error);
        return undefined;
      });
      // Its slices stay. The watch reports when the garbage collector has released them, and the Service is gone. The
      // key doesn't rest until then, as nothing answers at its address.
      if (service.kind === 'replace-service') return { wrote: false };
      if (written !== undefined) owner = { name: written.metadata.name, uid: written.metadata.uid };
      // Slices need a Service to belong to.
      if (service.kind === 'create-service' && written === undefined) return { wrote: writer.wrote };
    }
    const { isEmptied, ...all } = slices(owner);
    // Without an updated Service, nothing is added. Deletes still go ahead, as they may be of another cluster than the
    // one that makes the Service fail, but they must not remove the last endpoints.
    const parts = partsOf(all).filter(({ writes }) => failures.length === 0 || (writes.length === 0 && !isEmptied));
    await writeParts(parts, { isEmptied, writer }).catch((error: unknown) => failures.push(error));
    failures.push(...writer.taken.map(({ error }) => error));
    if (failures.length > 0) throw failures[0];
    return { wrote: writer.wrote };
  }

  #phases(key: string): Phases {
    const { local, keys, targets } = this.#options;
    const target = targets.target(key);
    if (!local.isSynced() || target === undefined) return noChange([]);
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
    if (!ownership.ok) return noChange([...diagnostics, ...ownership.diagnostics]);
    if (wanted === 'unknown' || (wanted === 'nothing' && target.retainsUnseen)) return noChange(diagnostics);
    // Another Service can't be created before this one is gone, which the watch reports.
    if (observed?.isTerminating === true) return noChange(diagnostics);
    return {
      diagnostics,
      owner: observed && { name, uid: observed.uid },
      service: diffService(observed, wanted === 'nothing' ? undefined : wanted.service),
      slices: (owner) => this.#slicePhases(target, fitting.slices, owner),
    };
  }

  #slicePhases(
    { name, isOurs, wanted, retainsEndpoints }: Target,
    desired: readonly DesiredSlice[],
    owner: Owner = { name, uid: '' },
  ): SlicePhasesOfAll {
    const { local } = this.#options;
    const observed = local.slices(name);
    const { writes, deletes: unwanted } = diffSlices(observed, desired, owner);
    const from = local.endpoints(name);
    const isRetained =
      wanted !== 'nothing' && retainsEndpoints && (from?.addresses.length ?? 0) > 0 && !desired.some(hasReady);
    const isAdopted = from !== undefined && !isRetained && isOurs(from.labels);
    // Slices of another process may be among them, if its prefix makes the same name.
    const deletes = unwanted.filter((change) => isOurs(change.from.labels));
    const changed = new Set([...writes.map(({ to }) => to.name), ...deletes.map((change) => change.from.name)]);
    const isEmptied = !observed.some((slice) => !changed.has(slice.name) && hasReady(slice));
    return { writes, adopted: isAdopted ? [{ kind: 'delete-endpoints', from }] : [], deletes, isEmptied };
  }
}

/**
 * Writes the slices of a Service, each cluster by itself: first its writes, then the deletes of what a Go program made,
 * then its deletes. If writes for one cluster fail, the others go on.
 *
 * @param isEmptied the deletes would leave no ready endpoint: then they wait until all writes were tried
 * @throws what made the first write fail, when all were tried
 */
async function writeParts(
  parts: readonly SlicePart[],
  { isEmptied, writer }: { readonly isEmptied: boolean; readonly writer: KeyWriter },
): Promise<void> {
  const writing = parts.map(({ writes }) => writer.writeAll(writes));
  const allWritten = Promise.allSettled(writing);
  const deleting = parts.map(async ({ writes, adopted, deletes }, i) => {
    if (isEmptied) await allWritten;
    await writing[i];
    // A slice that was refused, or whose name is taken, replaces nothing.
    const unwritten = writes.filter((change) => !writer.isDone(change));
    if (unwritten.length === 0) await writer.writeAll(adopted);
    await writer.writeAll(deletesBeside(deletes, unwritten));
  });
  await allTried(deleting);
}

const noChange = (diagnostics: readonly ClusterDiagnostic[]): Phases => ({
  diagnostics,
  owner: undefined,
  service: undefined,
  slices: () => ({ writes: [], adopted: [], deletes: [], isEmptied: false }),
});
