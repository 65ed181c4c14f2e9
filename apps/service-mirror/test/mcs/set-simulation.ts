import type { Condition } from '@kube-semaphore/kube-objects';
import { nextChanges, type ObservedObjects } from '../../src/imports/desired/changes.ts';
import { conditionChange, conflictReasons } from '../../src/imports/desired/conditions.ts';
import type { Export } from '../../src/imports/desired/export.ts';
import { desiredImport } from '../../src/imports/desired/import.ts';
import { retainedExports } from '../../src/imports/desired/retained.ts';
import type { SourceSlice } from '../../src/endpoints/desired/source.ts';
import { importInput } from './inputs.ts';
import { changed } from './observed.ts';

/** What a cluster exports under one name. */
export type Exported = { readonly export: Export; readonly slices: readonly SourceSlice[] };

type SimulatedCluster = {
  exported: Exported | undefined;
  /** The conditions of its export. */
  conditions: readonly Condition[];
  objects: ObservedObjects;
  /** What its process knows of each cluster; a missing entry is unknown, as after a restart. */
  readonly known: Map<string, Exported | undefined>;
  /** The clusters that its process can't read now. */
  readonly lost: Set<string>;
};

/** The clusters of a set, each of which reads the others when it can, and writes to itself. */
export class SetSimulation {
  readonly #clusters: ReadonlyMap<string, SimulatedCluster>;

  constructor(names: readonly string[]) {
    this.#clusters = new Map(
      names.map((name) => [
        name,
        {
          exported: undefined,
          conditions: [],
          objects: { serviceImport: undefined, service: undefined, slices: [] },
          known: new Map(),
          lost: new Set(),
        },
      ]),
    );
  }

  get names(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  get exports(): readonly Export[] {
    return [...this.#clusters.values()].flatMap(({ exported }) => exported?.export ?? []);
  }

  at(name: string): SimulatedCluster {
    return this.#clusters.get(name)!;
  }

  export(name: string, exported: Exported): void {
    this.at(name).exported = exported;
  }

  unexport(name: string): void {
    Object.assign(this.at(name), { exported: undefined, conditions: [] });
  }

  restart(name: string): void {
    this.at(name).known.clear();
  }

  /** One reconcile in a cluster, and its first writes. @returns how many there were */
  work(name: string): number {
    const local = this.at(name);
    for (const [remote, { exported }] of this.#clusters) if (!local.lost.has(remote)) local.known.set(remote, exported);
    const unknown = this.names.filter((each) => !local.known.has(each));
    const { serviceImport: observed, slices } = local.objects;
    const { wanted, conditions } = desiredImport(
      importInput(
        [...local.known.values()].flatMap((exported) =>
          exported === undefined
            ? []
            : [{ ...exported.export, slices: exported.slices, isLocal: exported.export.cluster === name }],
        ),
        {
          retained: retainedExports({ observed, slices }, unknown),
          own: local.exported && { service: 'exported', present: conflictReasons(local.conditions) },
        },
      ),
    );
    const changes = wanted === 'unknown' ? [] : nextChanges(local.objects, wanted, 't');
    for (const change of changes) local.objects = changed(local.objects, change);
    const condition = conditions && conditionChange(local.conditions, conditions, 't');
    local.conditions = condition ?? local.conditions;
    return changes.length + (condition === undefined ? 0 : 1);
  }

  /** Every cluster can read every other, and works until nothing is left to write. */
  quiet(): void {
    for (const { lost } of this.#clusters.values()) lost.clear();
    for (let round = 0; round < 30; round++)
      if (this.names.reduce((writes, name) => writes + this.work(name), 0) === 0) return;
    throw new Error('the clusters write without end');
  }
}
