import type { RunOptions } from '@kube-semaphore/kube-client';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { measurePaths } from './local/measure.ts';

const HOUR_MS = 3_600_000;

export type PathMtuOptions = {
  readonly tools: Pick<WireGuardTools, 'pathMtu'>;
  /** Milliseconds that only go on. Default: `performance.now()`. */
  readonly monotonicMs?: () => number;
};

/** The MTUs of the paths to the peers of a remote: each is measured when its endpoint is new, and every hour. */
export class PathMtu {
  readonly #options: PathMtuOptions;
  /** By endpoint. */
  #paths: ReadonlyMap<string, { readonly mtuBytes: number; readonly atMs: number }> = new Map();

  constructor(options: PathMtuOptions) {
    this.#options = options;
  }

  /** @param endpoints all present ones, as `wg` writes them @returns bytes by endpoint; without those that no route leads to */
  async measure(endpoints: readonly string[], { signal }: RunOptions): Promise<ReadonlyMap<string, number>> {
    const { tools, monotonicMs = () => performance.now() } = this.#options;
    const nowMs = monotonicMs();
    const isFresh = (endpoint: string): boolean => nowMs - (this.#paths.get(endpoint)?.atMs ?? -Infinity) < HOUR_MS;
    const due = endpoints.filter((endpoint) => !isFresh(endpoint));
    const measured = due.length === 0 ? new Map<string, number>() : await measurePaths(new Set(due), { tools, signal });
    this.#paths = new Map(
      endpoints.flatMap((endpoint) => {
        const mtuBytes = measured.get(endpoint);
        const path = mtuBytes === undefined ? this.#paths.get(endpoint) : { mtuBytes, atMs: nowMs };
        return path === undefined ? [] : [[endpoint, path]];
      }),
    );
    return new Map([...this.#paths].map(([endpoint, { mtuBytes }]) => [endpoint, mtuBytes]));
  }
}
