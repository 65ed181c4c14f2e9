import { WaitingWrites } from '@kube-semaphore/multicluster';
import { mirrorKey, mirrorServiceName, serviceNameLabel } from '../src/names.ts';
import type { Change } from '../src/endpoints/desired/diff/change.ts';
import { Claims } from '../src/services/desired/claims.ts';
import { familySpec } from '../src/endpoints/desired/families.ts';
import { keysOfLocalName, sourcesOf } from '../src/services/desired/keys-of-local-name.ts';
import { mirrorTarget } from '../src/services/desired/mirrors/target.ts';
import type { ObservedService, ObservedSlice } from '../src/endpoints/desired/observed.ts';
import { ServiceReconciler } from '../src/services/reconciler.ts';
import type { SourceService, SourceSlice } from '../src/endpoints/desired/source.ts';
import { noDecisions } from './support/plain-cluster.ts';

/** Prefixes by cluster: two begin alike, so that their sources can have one name. */
export const prefixes: ReadonlyMap<string, string> = new Map([
  ['c2', 'c2'],
  ['c2-a', 'c2-a'],
  ['c3', 'c3'],
]);

/** What a cluster has: Services by `ns/name`, slices by `ns/name` of their own. */
export type Remote = { readonly services: Map<string, SourceService>; readonly slices: Map<string, SourceSlice> };

const emptyRemote = (): Remote => ({ services: new Map(), slices: new Map() });
const copyOf = ({ services, slices }: Remote): Remote => ({ services: new Map(services), slices: new Map(slices) });

/** A local side that refuses, like an API server, a second object of one name, and an update of another version. */
class Local {
  readonly isSynced = () => true;
  readonly #services = new Map<string, ObservedService>();
  readonly #slices = new Map<string, ObservedSlice>();
  #count = 0;

  service(name: string): ObservedService | undefined {
    return this.#services.get(name);
  }

  slice(name: string): ObservedSlice | undefined {
    return this.#slices.get(name);
  }

  slices(service: string): readonly ObservedSlice[] {
    return [...this.#slices.values()]
      .filter(({ labels }) => labels[serviceNameLabel] === service)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  endpoints(): undefined {
    return undefined;
  }

  /** Everything except UIDs, versions and times. */
  content(): object {
    const services = [...this.#services.values()].map(({ name, labels, annotations, definition, familyPolicy }) => [
      name,
      { labels, annotations, definition, familyPolicy },
    ]);
    const slices = [...this.#slices.values()].map(({ name, labels, annotations, family, ports, endpoints, owners }) => [
      name,
      { labels, annotations, family, ports, endpoints, isOwned: this.#isOwned(labels, owners) },
    ]);
    return { services: Object.fromEntries(services), slices: Object.fromEntries(slices) };
  }

  /** @returns what was written of a Service, for the slices after it */
  apply(change: Change): { readonly metadata: { readonly name: string; readonly uid: string } } | undefined {
    const uid = `u${++this.#count}`;
    switch (change.kind) {
      case 'create-service':
        this.#expectNew(this.#services, change.to.name);
        return this.#putService(change.to, uid, undefined);
      case 'update-service':
        this.#expectSame(this.#services, change.from);
        return this.#putService(change.to, change.from.uid, change.from);
      case 'replace-service':
      case 'delete-service':
        this.#expectSame(this.#services, change.from);
        this.#services.delete(change.from.name);
        this.#collectGarbage(change.from.uid, change.kind === 'replace-service');
        return undefined;
      case 'create-slice':
        this.#expectNew(this.#slices, change.to.name);
        this.#slices.set(change.to.name, { ...change.to, uid, resourceVersion: uid, owners: ownersOf(change) });
        return undefined;
      case 'update-slice':
        this.#expectSame(this.#slices, change.from);
        this.#slices.set(change.to.name, {
          ...change.to,
          uid: change.from.uid,
          resourceVersion: uid,
          owners: ownersOf(change),
        });
        return undefined;
      case 'delete-slice':
        // It may have been deleted with its Service.
        this.#slices.delete(change.from.name);
        return undefined;
      case 'delete-endpoints':
        return undefined;
    }
  }

  #putService(to: Extract<Change, { kind: 'create-service' }>['to'], uid: string, before: ObservedService | undefined) {
    const { ipFamilyPolicy, ipFamilies } = familySpec(to.definition.families, before?.definition.families);
    const families = ipFamilyPolicy === 'SingleStack' ? ipFamilies : to.definition.families;
    const ports = to.definition.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port }));
    this.#services.set(to.name, {
      ...to,
      uid,
      resourceVersion: `v${this.#count}`,
      createdAt: 0,
      familyPolicy: ipFamilyPolicy,
      isPlain: true,
      isTerminating: false,
      ownerReferences: [],
      finalizers: [],
      definition: { ...to.definition, families, ports },
    });
    return { metadata: { name: to.name, uid } };
  }

  #collectGarbage(uid: string, orphan: boolean): void {
    for (const slice of [...this.#slices.values()].filter(({ owners }) => owners.includes(uid))) {
      if (orphan) this.#slices.set(slice.name, { ...slice, owners: [] });
      else this.#slices.delete(slice.name);
    }
  }

  #isOwned(labels: ObservedSlice['labels'], [owner]: readonly string[]): boolean {
    return owner !== undefined && this.#services.get(labels[serviceNameLabel] ?? '')?.uid === owner;
  }

  #expectNew(objects: ReadonlyMap<string, unknown>, name: string): void {
    if (objects.has(name)) throw new Error(`${name} already exists`);
  }

  #expectSame(
    objects: ReadonlyMap<string, { readonly resourceVersion: string }>,
    { name, resourceVersion }: { name: string; resourceVersion: string },
  ): void {
    if (objects.get(name)?.resourceVersion !== resourceVersion) throw new Error(`${name} is another version`);
  }
}

const ownersOf = ({ owner }: Extract<Change, { kind: 'create-slice' | 'update-slice' }>): readonly string[] =>
  owner === undefined ? [] : [owner.uid];

/** Mirrors of three clusters, without a network: the clusters' objects, what is known about them, and the local objects. */
export class Simulation {
  readonly local = new Local();
  readonly #truth = new Map<string, Remote>();
  readonly #known = new Map<string, Remote>();
  readonly #claims = new Claims();
  readonly #queue = new Set<string>();
  readonly #reconciler: ServiceReconciler;
  readonly #failures: unknown[] = [];
  readonly #writes = new WaitingWrites({
    onFailure: ({ error }) => void this.#failures.push(error),
    onDue: (key) => void this.#queue.add(key),
  });

  constructor() {
    for (const cluster of prefixes.keys()) this.#truth.set(cluster, emptyRemote());
    this.#reconciler = new ServiceReconciler({
      local: this.local,
      decisions: noDecisions,
      targets: { target: (key) => this.#target(key), part: () => undefined },
      keys: {
        claimants: (name) => this.#claims.keys(name),
        sourcesOf: (observed) => sourcesOf(observed, prefixes),
        forgetSeen: () => {},
      },
      write: (change) => Promise.resolve(this.#write(change)),
      clusters: { diagnose: () => {} },
    });
  }

  /** Changes something in a cluster; with `seen`, a watch reports it if the cluster is known. */
  change(cluster: string, change: (remote: Remote) => void, { seen }: { seen: boolean }): void {
    change(this.#truth.get(cluster)!);
    const known = this.#known.get(cluster);
    if (!seen || known === undefined) return;
    const after = copyOf(known);
    change(after);
    this.#learn(cluster, known, after);
  }

  /** A cluster is listed: for the first time, or once more. */
  list(cluster: string): void {
    this.#learn(cluster, this.#known.get(cluster) ?? emptyRemote(), copyOf(this.#truth.get(cluster)!));
  }

  /** Reconciles the key at this place of the queue. @returns whether there was one */
  async work(at: number): Promise<boolean> {
    const key = [...this.#queue][this.#queue.size === 0 ? 0 : at % this.#queue.size];
    if (key === undefined) return false;
    this.#queue.delete(key);
    const writes = this.#writes.begin(key, { since: 0 });
    await this.#reconciler.reconcile(key, { signal: new AbortController().signal, since: 0, writes });
    this.#writes.end(writes);
    if (this.#failures.length > 0) throw this.#failures[0];
    return true;
  }

  #learn(cluster: string, before: Remote, after: Remote): void {
    this.#known.set(cluster, after);
    for (const id of new Set([...before.services.keys(), ...after.services.keys()]))
      this.#learnService(cluster, before.services.get(id), after.services.get(id));
    for (const id of new Set([...before.slices.keys(), ...after.slices.keys()])) {
      for (const slice of [before.slices.get(id), after.slices.get(id)])
        if (slice) this.#queue.add(mirrorKey(cluster, slice.namespace, slice.service));
    }
  }

  #learnService(cluster: string, previous: SourceService | undefined, current: SourceService | undefined): void {
    const { namespace, name } = (current ?? previous)!;
    const key = mirrorKey(cluster, namespace, name);
    const localName = mirrorServiceName(prefixes.get(cluster)!, namespace, name);
    const claim = { key, cluster, namespace, name };
    const keys =
      current === undefined
        ? this.#claims.remove(localName, claim)
        : this.#claims.add(localName, { ...claim, createdAt: current.createdAt });
    for (const each of [key, ...keys]) this.#queue.add(each);
  }

  #target(key: string): ReturnType<typeof mirrorTarget> | undefined {
    const [cluster = '', namespace = '', name = ''] = key.split('/');
    const prefix = prefixes.get(cluster);
    if (prefix === undefined) return undefined;
    const known = this.#known.get(cluster);
    const source = {
      known: known !== undefined,
      service: known?.services.get(`${namespace}/${name}`),
      slices: [...(known?.slices.values() ?? [])].filter(
        (slice) => slice.namespace === namespace && slice.service === name,
      ),
      skipped: [],
    };
    return mirrorTarget(
      { namespace, name },
      {
        cluster,
        prefix,
        mirrorNamespace: 'mirrors',
        families: undefined,
        source,
        prefixes: [...prefixes.values()],
        retainsUnseen: false,
        retainsEndpoints: false,
      },
    );
  }

  #write(change: Change): never {
    const written = this.local.apply(change);
    const object = 'to' in change ? change.to : change.from;
    const service = 'labels' in object ? object.labels[serviceNameLabel] : undefined;
    const name = service ?? object.name;
    const claimants = this.#claims.keys(name);
    for (const key of claimants.length > 0 ? claimants : keysOfLocalName(name, prefixes)) this.#queue.add(key);
    return written as never;
  }
}
