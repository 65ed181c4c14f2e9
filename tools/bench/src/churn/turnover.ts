import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { type BenchCluster, send } from '../load/clusters.ts';
import { writtenName } from './written.ts';

/** An object, and the index of its cluster: 0 is the local one, then come the remotes. */
export type Placed = { readonly cluster: number; readonly collection: string; readonly object: KubeObject };

/**
 * The place of a thing, such as a workload. A thing changes, and goes for one that nothing was called like before: so
 * there are always as many, and what is kept of the names of those that went becomes more and more.
 *
 * @param nth its number, which no other thing ever had
 * @param version how often it changed
 * @returns its objects, a namespace before what is in it
 */
export type Slot = (nth: number, version: number) => readonly Placed[];

const WORKERS = 4;
/** Of so many steps of a slot, one is a new thing. */
const STEPS_OF_A_THING = 3;

/** Things that come, change and go. */
export class Turnover {
  readonly #clusters: readonly BenchCluster[];
  readonly #slots: { readonly slot: Slot; nth: number; version: number }[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #still: Promise<void> | undefined;
  #things = 0;
  #writes = 0;

  /** @param clusters the local one first */
  constructor(clusters: readonly BenchCluster[]) {
    this.#clusters = clusters;
  }

  /** Names so far, and requests that created, changed or deleted an object. */
  get counts(): { readonly things: number; readonly writes: number } {
    return { things: this.#things, writes: this.#writes };
  }

  /** The names of all objects of a cluster that are here now. */
  names(cluster: number): ReadonlySet<string> {
    const objects = this.#slots.flatMap(({ slot, nth, version }) => slot(nth, version));
    const here = objects.filter((placed) => placed.cluster === cluster);
    return new Set(here.map(({ collection, object }) => writtenName(collection, object)));
  }

  /** Makes the first thing of each slot. */
  async fill(slots: readonly Slot[]): Promise<void> {
    for (const slot of slots) {
      const thing = { slot, nth: this.#things++, version: 0 };
      this.#slots.push(thing);
      await this.#create(slot(thing.nth, 0));
    }
  }

  /** Takes steps, one slot after the other, until `endMs` by `performance.now()`; fewer a second if the machine is slower. */
  async run({ perSecond, endMs }: { readonly perSecond: number; readonly endMs: number }): Promise<void> {
    const paceMs = (WORKERS * 1000) / perSecond;
    const work = async (worker: number): Promise<void> => {
      const own = this.#slots.filter((_, index) => index % WORKERS === worker);
      for (let turn = 0; performance.now() < endMs; turn++) {
        const pause = new Promise((resolve) => setTimeout(resolve, paceMs));
        const thing = own[turn % own.length];
        await this.#still;
        if (thing !== undefined) await this.#follow(this.#step(thing));
        await pause;
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  }

  /** Does something between two steps: it would break requests of one. */
  async whileStill(task: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#still = promise;
    try {
      await Promise.all(this.#underWay);
      await task();
    } finally {
      this.#still = undefined;
      resolve();
    }
  }

  async #follow(step: Promise<void>): Promise<void> {
    this.#underWay.add(step);
    try {
      await step;
    } finally {
      this.#underWay.delete(step);
    }
  }

  async #step(thing: { readonly slot: Slot; nth: number; version: number }): Promise<void> {
    const before = thing.slot(thing.nth, thing.version);
    thing.version += 1;
    if (thing.version % STEPS_OF_A_THING !== 0) return this.#change(before, thing.slot(thing.nth, thing.version));
    await this.#remove(before);
    thing.nth = this.#things++;
    await this.#create(thing.slot(thing.nth, thing.version));
  }

  async #create(objects: readonly Placed[]): Promise<void> {
    for (const placed of objects) {
      const { admin } = this.#clusters[placed.cluster]!.api;
      await admin.create(placed.collection, placed.object);
      this.#writes += 1;
      if (placed.object.kind === 'Pod') await this.#write(placed);
    }
  }

  async #change(before: readonly Placed[], after: readonly Placed[]): Promise<void> {
    const old = new Set(before.map((placed) => JSON.stringify(placed)));
    for (const placed of after) if (!old.has(JSON.stringify(placed))) await this.#write(placed);
  }

  /** What is in a namespace goes with it. */
  async #remove(objects: readonly Placed[]): Promise<void> {
    const namespaces = new Set(objects.filter(({ object }) => object.kind === 'Namespace').map(nameOf));
    for (const { cluster, collection, object } of objects) {
      if (namespaces.has(object.metadata.namespace ?? '')) continue;
      await this.#clusters[cluster]!.api.admin.delete(`${collection}/${object.metadata.name}?gracePeriodSeconds=0`);
      this.#writes += 1;
    }
  }

  /** Only the status of a Pod changes. */
  async #write({ cluster, collection, object }: Placed): Promise<void> {
    const { admin } = this.#clusters[cluster]!.api;
    const path = `${collection}/${object.metadata.name}`;
    await (object.kind === 'Pod'
      ? send(admin, 'PATCH', `${path}/status`, { status: object['status'] })
      : send(admin, 'PUT', path, object));
    this.#writes += 1;
  }
}

const nameOf = ({ object }: Placed): string => object.metadata.name;

/** A namespace of a cluster. */
export const namespace = (cluster: number, name: string): Placed => ({
  cluster,
  collection: '/api/v1/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});
