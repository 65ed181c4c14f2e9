import { isDeepStrictEqual } from 'node:util';
import type { Change, ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type EndpointSlice, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { type Diagnostic, Watched } from '@kube-semaphore/multicluster';
import { SliceIndex } from '../desired/slice-index.ts';
import type { SourceSlice } from '../desired/source.ts';
import { serviceNameLabel } from '../../names.ts';
import { readSlice, type SliceRules } from './read-slice.ts';
import { guardOf, heldSlices, nameOf, readTooLarge, type Stored, type WatchSettings, watchSettings } from './stored.ts';

/** A slice as stored. `service` is `''` if it is too large: then only its own name is known. */
export type StoredSlice = Stored<SourceSlice> & Pick<SourceSlice, 'namespace' | 'name' | 'service'>;

export type SliceSourceOptions = WatchSettings & {
  readonly client: KubeClient;
  /** Default: all slices. */
  readonly labelSelector?: string;
  readonly rules: SliceRules;
  readonly hooks: ReflectorHooks;
  /** @param services those that the slice belonged to and belongs to now */
  readonly onChange: (
    change: Change<StoredSlice>,
    services: readonly { readonly namespace: string; readonly name: string }[],
  ) => void;
};

/** EndpointSlices of one cluster, by the Service that each of them names. Those that are ours, or of no Service, don't exist. */
export class SliceSource {
  readonly #slices: Watched<typeof endpointSliceKind, StoredSlice>;
  readonly #byService = new SliceIndex<StoredSlice>(({ namespace, service }) => `${namespace}/${service}`);

  constructor({ client, labelSelector, rules, options, budget, hooks, onChange }: SliceSourceOptions) {
    this.#slices = new Watched<typeof endpointSliceKind, StoredSlice>({
      client,
      kind: endpointSliceKind,
      ...(labelSelector !== undefined && { labelSelector }),
      project: (slice, known) => storedSlice(slice, rules, known),
      projectTooLarge: (slice): StoredSlice => {
        const { namespace, name } = slice.metadata;
        return { ...readTooLarge(slice), namespace, name, service: '' };
      },
      equal: isSame,
      onChange: (change) => {
        onChange(change, Array.from(this.#byService.move(change), nameOf));
      },
      holding: {
        guard: guardOf({ options }),
        ...heldSlices,
      },
      ...watchSettings({ options, budget }),
      hooks,
    });
  }

  /** Whether a first list is complete. */
  get synced(): boolean {
    return this.#slices.synced;
  }

  /** How many are held. */
  get held(): number {
    return this.#slices.held;
  }

  /** How many there are, also before the first list is complete. */
  get size(): number {
    return this.#slices.size;
  }

  /** Milliseconds since the watch was active. */
  get silentMs(): number {
    return this.#slices.silentMs;
  }

  /** Whether it has a slice of this name. */
  has({ namespace, name }: Pick<SourceSlice, 'namespace' | 'name'>): boolean {
    return this.#slices.store.last(`${namespace}/${name}`) !== undefined;
  }

  /** The slices of a Service, in no order. */
  slices(namespace: string, service: string): readonly StoredSlice[] {
    return this.#byService.slices(`${namespace}/${service}`);
  }

  /** Measures the first list against a seed. To be called before `run`. */
  seed(slices: readonly SourceSlice[]): void {
    for (const value of slices) {
      const { namespace, name, service } = value;
      this.#slices.seed(`${namespace}/${name}`, { uid: '', namespace, name, service, value, skipped: [] });
    }
  }

  /** Takes a seed back: these slices are listed elsewhere, so a list that lacks them is no loss. */
  unseed(slices: readonly SourceSlice[]): void {
    for (const { namespace, name } of slices) this.#slices.store.delete(`${namespace}/${name}`, '');
  }

  /** Watches until `signal` is aborted; to be called once. */
  run(options: RunOptions): Promise<void> {
    return this.#slices.run(options);
  }
}

/** Undefined for a slice that isn't of a Service, or that is ours. */
function storedSlice(slice: EndpointSlice, rules: SliceRules, known: StoredSlice | undefined): StoredSlice | undefined {
  const { value, skipped } = readSlice(slice, rules, known?.value?.endpoints);
  const { uid, namespace, name, labels } = slice.metadata;
  if (value === undefined && skipped.length === 0) return undefined;
  return { uid, namespace, name, service: labels[serviceNameLabel] ?? '', value, skipped };
}

/** What is skipped of a slice, as said about its Service: with the name of the slice. */
export const skippedIn = ({
  namespace,
  name,
  skipped,
}: Pick<StoredSlice, 'namespace' | 'name' | 'skipped'>): readonly Diagnostic[] =>
  skipped.map((each) => ({ ...each, detail: `slice ${namespace}/${name}: ${each.detail}` }));

/** A mirror doesn't depend on UIDs and versions. */
const isSame = (a: StoredSlice, b: StoredSlice): boolean =>
  a.service === b.service && isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.skipped, b.skipped);
