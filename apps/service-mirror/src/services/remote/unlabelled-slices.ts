import { once } from 'node:events';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import type { SourceSlice } from '../../endpoints/desired/source.ts';
import {
  mirroredServiceLabel,
  mirroredSliceLabel,
  serviceNameLabel,
  sliceManagedByLabel,
  sliceManager,
} from '../../names.ts';
import { SliceSource, type SliceSourceOptions, type StoredSlice } from '../../endpoints/remote/slices.ts';

/** Kubernetes' own controller writes no slice for a Service without a selector, and nearly all slices of others. */
const SELECTOR = [
  serviceNameLabel,
  `${mirroredServiceLabel}!=true`,
  `${mirroredSliceLabel}!=true`,
  `${sliceManagedByLabel} notin (endpointslice-controller.k8s.io,${sliceManager})`,
].join(',');

/** The watch stays open for so long after the last Service without a selector, so that a remote can't open it all the time. */
const LINGER_MS = 3_600_000;

export type UnlabelledSlicesOptions = Omit<SliceSourceOptions, 'labelSelector' | 'hooks'> & {
  /** @param until ends the watch */
  readonly hooks: (until: AbortSignal) => ReflectorHooks;
};

/**
 * The slices that Kubernetes gave no labels of their Service, as that has no selector: those that people and programs write,
 * and those that mirror Endpoints. They are watched only while they are needed.
 */
export class UnlabelledSlices {
  readonly #options: UnlabelledSlicesOptions;
  readonly #loops = new Set<Promise<void>>();
  #running: RunOptions | undefined;
  #open: { readonly source: SliceSource; readonly ended: AbortController } | undefined;
  #lingering: NodeJS.Timeout | undefined;

  constructor(options: UnlabelledSlicesOptions) {
    this.#options = options;
  }

  /** Whether a first list is complete; false while they aren't watched. */
  get synced(): boolean {
    return this.#open?.source.synced ?? false;
  }

  /** How many are held; a seed isn't, before a list lacks it. */
  get held(): number {
    return this.#open !== undefined && this.synced ? this.#open.source.held : 0;
  }

  /** Milliseconds since the watch was active; 0 before it is opened. */
  get silentMs(): number {
    return this.#open?.source.silentMs ?? 0;
  }

  /** The slices of a Service, in no order. */
  slices(namespace: string, service: string): readonly StoredSlice[] {
    return this.#open?.source.slices(namespace, service) ?? [];
  }

  /**
   * Opens the watch, or closes it after a while.
   *
   * @param seed what to measure the first list of a new watch against
   */
  setNeeded(isNeeded: boolean, seed: readonly SourceSlice[] = []): void {
    if (this.#running === undefined || this.#running.signal.aborted) return;
    if (!isNeeded) {
      if (this.#open !== undefined) this.#lingering ??= setTimeout(() => this.#close(), LINGER_MS).unref();
      return;
    }
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    if (this.#open === undefined) this.#start(this.#running, seed);
  }

  /** Watches when needed, until `signal` is aborted; to be called once. */
  async run(running: RunOptions): Promise<void> {
    const { signal } = running;
    this.#running = running;
    if (!signal.aborted) await once(signal, 'abort');
    clearTimeout(this.#lingering);
    await Promise.all(this.#loops);
  }

  #start({ signal }: RunOptions, seed: readonly SourceSlice[]): void {
    const ended = new AbortController();
    const hooks = this.#options.hooks(ended.signal);
    const source = new SliceSource({ ...this.#options, labelSelector: SELECTOR, hooks });
    this.#open = { source, ended };
    source.seed(seed);
    const loop = source.run({ signal: AbortSignal.any([signal, ended.signal]) });
    this.#loops.add(loop);
    void loop.then(() => this.#loops.delete(loop));
  }

  #close(): void {
    this.#open?.ended.abort();
    this.#open = undefined;
    this.#lingering = undefined;
  }
}
