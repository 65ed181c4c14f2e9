import { addresses, digits } from '../load/names.ts';

/** A pod behind a Service. */
export type Backend = {
  readonly pod: string;
  readonly address: string;
  readonly nodeName: string;
  readonly zone: string;
};

/** The distinct fields of a Service. */
export type RemoteService = {
  readonly namespace: string;
  readonly name: string;
  /** Each is replaced in its place, so that one change touches one slice. */
  readonly backends: Backend[];
};

const NAMESPACES = 20;
const NODES = 50;
const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'] as const;

/** The Services of the remote cluster with their present endpoints. Two catalogs of one size start equal. */
export class Catalog {
  readonly services: readonly RemoteService[];
  readonly #nextAddress = addresses();
  #pods = 0;

  constructor({ services, endpoints }: { readonly services: number; readonly endpoints: number }) {
    this.services = Array.from({ length: services }, (_, index) => {
      return this.#service(`team-${digits(index % NAMESPACES, 2)}`, `app-${digits(index, 5)}`, endpoints);
    });
  }

  /** The namespaces of its Services. */
  get namespaces(): string[] {
    return [...new Set(this.services.map(({ namespace }) => namespace))];
  }

  /** A further Service, in the first namespace, which isn't in `services`. */
  recruit(name: string, endpoints: number): RemoteService {
    return this.#service(this.services[0]!.namespace, name, endpoints);
  }

  /** A pod that replaces another one of this Service, with a new name and address. */
  nextBackend({ name }: Pick<RemoteService, 'name'>): Backend {
    const index = this.#pods;
    this.#pods += 1;
    const node = index % NODES;
    return {
      pod: `${name}-7d9f8b6c54-${digits(index, 7)}`,
      address: this.#nextAddress(),
      nodeName: `node-${digits(node, 2)}.c2.example`,
      zone: ZONES[node % ZONES.length] ?? ZONES[0],
    };
  }

  #service(namespace: string, name: string, endpoints: number): RemoteService {
    return { namespace, name, backends: Array.from({ length: endpoints }, () => this.nextBackend({ name })) };
  }
}
