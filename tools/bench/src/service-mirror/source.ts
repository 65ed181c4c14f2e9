import type { TestClient } from '@kube-semaphore/embedded-apiserver';
import { CONNECTIONS, send } from '../load/clusters.ts';
import { inParallel } from '../measure/pace.ts';
import type { Change } from '../phases/bench.ts';
import type { Catalog, RemoteService } from './catalog.ts';
import { mirrorOf } from './mirrors.ts';
import { type Located, objectWith, serviceOf, type SourceKind, sourceObjects } from './source-objects.ts';

/** The Services of a catalog in the remote cluster, with the one kind of objects that a program takes their endpoints from. */
export class Source {
  readonly catalog: Catalog;
  readonly #kind: SourceKind;
  readonly #client: TestClient;
  readonly #uids = new Map<RemoteService, string>();
  /** The last write of each Service. */
  readonly #writes = new Map<RemoteService, Promise<void>>();

  /** @param client of a cluster-admin */
  constructor(catalog: Catalog, kind: SourceKind, client: TestClient) {
    this.catalog = catalog;
    this.#kind = kind;
    this.#client = client;
  }

  /** Makes sure of all Services, and creates their endpoints. Their namespaces exist. */
  async load(): Promise<void> {
    const { services } = this.catalog;
    await inParallel(services, CONNECTIONS, (service) => this.add(service));
  }

  /** Creates a Service, unless it is there, and its endpoints. */
  async add(service: RemoteService): Promise<void> {
    this.#uids.set(service, await this.#uidOf(service));
    for (const { collection, object } of this.#objects(service)) await this.#client.create(collection, object);
  }

  /** Deletes a Service and its endpoints. */
  async remove(service: RemoteService): Promise<void> {
    for (const located of [...this.#objects(service), serviceOf(service)]) await this.#client.delete(pathOf(located));
  }

  /** Another pod in a place of a Service. */
  replacement(service: RemoteService, place: number): Change {
    const backend = this.catalog.nextBackend(service);
    const apply = () => {
      service.backends[place] = backend;
      return this.#write(service, place);
    };
    return { key: mirrorOf(service), item: backend.address, apply };
  }

  /** Writes the object with that place, one after the other of a Service: what it is then, as controllers do. */
  #write(service: RemoteService, place: number): Promise<void> {
    const write = (this.#writes.get(service) ?? Promise.resolve()).then(async () => {
      const located = this.#objects(service)[objectWith(this.#kind, place)];
      if (located === undefined) throw new RangeError(`${service.name} has no endpoint ${place}`);
      await send(this.#client, 'PUT', pathOf(located), located.object);
    });
    this.#writes.set(service, write);
    return write;
  }

  #objects(service: RemoteService): Located[] {
    return sourceObjects(this.#kind, service, this.#uids.get(service) ?? '');
  }

  async #uidOf(service: RemoteService): Promise<string> {
    const located = serviceOf(service);
    const { status, body } = await this.#client.request('GET', pathOf(located));
    const { metadata } = status === 200 ? body : await this.#client.create(located.collection, located.object);
    return metadata.uid ?? '';
  }
}

const pathOf = ({ collection, object }: Located): string => `${collection}/${object.metadata.name}`;
