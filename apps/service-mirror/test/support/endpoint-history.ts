import type { KubeObject, TestAccount, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { gapsIn, ObjectHistory } from '@kube-semaphore/testkit';
import { MIRRORS } from './mirror-process.ts';
import { readyAddresses, type Slice } from './slices.ts';

/** The ready addresses of each Service after one write, in slices of any program. */
type Moment = Readonly<Record<string, readonly string[]>>;

const PATHS = {
  services: `/api/v1/namespaces/${MIRRORS}/services`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices`,
} as const;

/**
 * Every version of every Service and EndpointSlice in the mirror namespace, so that a test can say what must have held at
 * each moment, as kube-proxy saw it.
 */
export class EndpointHistory {
  readonly #services: ObjectHistory<undefined>;
  readonly #slices: ObjectHistory<Moment>;

  private constructor(services: ObjectHistory<undefined>, slices: ObjectHistory<Moment>) {
    this.#services = services;
    this.#slices = slices;
  }

  /** Starts with the present objects. The token must allow to watch both kinds. */
  static async start(cluster: TestCluster, { token }: Pick<TestAccount, 'token'>): Promise<EndpointHistory> {
    const momentOf = (slices: readonly KubeObject[]): Moment => readyAddresses(slices as unknown as readonly Slice[]);
    const services = ObjectHistory.start({ cluster, path: PATHS.services, token, momentOf: () => undefined });
    const slices = ObjectHistory.start({ cluster, path: PATHS.slices, token, momentOf });
    return new EndpointHistory(await services, await slices);
  }

  stop(): void {
    this.#services.stop();
    this.#slices.stop();
  }

  /** Waits until everything that has happened so far is in the history. */
  async caughtUp(): Promise<void> {
    await Promise.all([this.#services.caughtUp(), this.#slices.caughtUp()]);
  }

  /** Names of Services that were deleted, in order. */
  get deletions(): readonly string[] {
    return this.#services.deletions;
  }

  /** The Services that had a ready endpoint at one moment, and none at a later one: their clients failed. */
  get gaps(): readonly string[] {
    return gapsIn(
      this.#slices.moments.map((moment) => new Set(Object.keys(moment).filter((name) => moment[name]!.length > 0))),
    );
  }

  /** The addresses that were ready in a Service at one moment, and not at a later one. */
  addressGaps(name: string): readonly string[] {
    return gapsIn(this.#slices.moments.map((moment) => new Set(moment[name])));
  }
}
