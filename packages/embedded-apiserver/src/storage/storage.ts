import { Clock } from './clock.ts';
import type { ClusterIps } from '../kinds/cluster-ips.ts';
import { Collection, type Change } from './collection.ts';
import { Ownership } from './ownership.ts';
import type { Target } from '../http/request-info.ts';
import { builtIns, customResources, type Resource } from '../kinds/resources.ts';
import { unexpected } from '../http/status.ts';
import { StoredObject } from './stored-object.ts';
import type { KubeObject } from '../test-cluster.ts';

/** etcd's limit for a request: half of what kube-apiserver accepts. */
const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;

/**
 * All objects of a cluster, and the resources that it serves: the built-in ones, and those of its
 * CustomResourceDefinitions.
 */
export class Storage {
  readonly clock = new Clock();
  readonly clusterIps: ClusterIps;
  readonly ownership = new Ownership();
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(resource: Resource, change: Change) => void>();
  #resources = builtIns;
  #compacted = 0;

  constructor(clusterIps: ClusterIps) {
    this.clusterIps = clusterIps;
  }

  /** All served resources, each once per version. */
  get resources(): readonly Resource[] {
    return this.#resources;
  }

  /** Whether this group and version is served. */
  serves({ group, version }: Target): boolean {
    return this.#resources.some((each) => each.group === group && each.version === version);
  }

  /** The resource at a path. */
  resource({ group, version, resource }: Target): Resource | undefined {
    return this.#resources.find((each) => each.plural === resource && each.version === version && each.group === group);
  }

  /** A built-in resource by its plural name. */
  builtIn(plural: string): Resource {
    const resource = builtIns.find((each) => each.plural === plural);
    if (!resource) throw new Error(`no built-in resource ${plural}`);
    return resource;
  }

  /** The versions of a resource share their objects. */
  collection({ group, plural }: Resource): Collection {
    const key = `${group}/${plural}`;
    let collection = this.#collections.get(key);
    if (!collection) this.#collections.set(key, (collection = new Collection(this.#compacted)));
    return collection;
  }

  /** Stores an object with the next resourceVersion. @throws {ApiError} 500 if it is too large for etcd */
  put(resource: Resource, object: KubeObject): StoredObject {
    const metadata = { ...object.metadata, resourceVersion: String(this.clock.revision + 1) };
    const next = new StoredObject(resource, { ...object, metadata });
    if (next.json.length > MAX_OBJECT_BYTES) throw unexpected('etcdserver: request is too large');
    this.#record(resource, this.collection(resource).put(next));
    return next;
  }

  /** Removes an object. Watches see its last state with the next resourceVersion. */
  remove(resource: Resource, object: StoredObject): void {
    this.#record(resource, this.collection(resource).remove(object.at(this.clock.revision + 1)));
  }

  /** Forgets the history: older resourceVersions and continue tokens are answered 410. */
  compact(): void {
    this.#compacted = this.clock.revision;
    for (const collection of this.#collections.values()) collection.compact(this.#compacted);
  }

  /** Calls `listener` after each change of any object, until the returned function is called. */
  onChange(listener: (resource: Resource, change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #record(resource: Resource, change: Change): void {
    if (resource.kind === 'CustomResourceDefinition') this.#readDefinitions();
    this.ownership.record(resource, change);
    this.clock.tick();
    for (const listener of this.#listeners) listener(resource, change);
  }

  #readDefinitions(): void {
    const definitions = this.collection(this.builtIn('customresourcedefinitions')).list();
    this.#resources = [...builtIns, ...definitions.flatMap((definition) => customResources(definition.object()))];
  }
}
