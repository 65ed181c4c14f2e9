import { isDeepStrictEqual } from 'node:util';
import { Reflector, type ReflectorHooks, type RemoteBudget, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type EndpointSlice, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import { type Diagnostic, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../../config/options.ts';
import { SliceIndex } from '../../desired/slice-index.ts';
import type { Reading, SourceSlice } from '../../desired/source.ts';
import { serviceNameLabel } from '../../names.ts';
import { type ExportedService, readExportedService, readExportedSlice } from '../read/export.ts';
import type { SliceRules } from '../read/slice.ts';
import { heldSlices, readTooLarge, type Stored } from '../stored.ts';

type StoredService = ExportedService & { readonly uid: string };
type StoredSlice = Stored<SourceSlice> & { readonly namespace: string; readonly service: string };

/** What a cluster had before the process started, as our imports show. */
export type ServiceSeed = {
  readonly services: readonly (Pick<SourceSlice, 'namespace' | 'name'> & { readonly exported: ExportedService })[];
  readonly slices: readonly SourceSlice[];
};

export type ExportedServicesOptions = {
  readonly client: KubeClient;
  readonly rules: SliceRules;
  readonly options: Pick<
    MirrorOptions,
    'watchIdleTimeoutMs' | 'deletionGuardHoldMs' | 'deletionGuardMin' | 'deletionGuardPercent'
  >;
  /** Undefined for the local cluster. */
  readonly budget: RemoteBudget | undefined;
  readonly hooks: (what: 'Services' | 'EndpointSlices') => ReflectorHooks;
  /** This Service, or a slice of it, was added, changed or removed. */
  readonly onChange: (at: { readonly namespace: string; readonly name: string }) => void;
  /** What is skipped of a slice whose Service isn't known. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/** All Services of a cluster that may be exported, with their slices: an export doesn't change the labels of its Service. */
export class ExportedServices {
  readonly #services: Store<StoredService>;
  readonly #slices: Store<StoredSlice>;
  readonly #byService = new SliceIndex<StoredSlice>(({ namespace, service }) => `${namespace}/${service}`);
  readonly #reflectors: readonly { run(options: RunOptions): Promise<void>; readonly silentMs: number }[];

  constructor({ client, rules, options, budget, hooks, onChange, onSkipped }: ExportedServicesOptions) {
    const guard = { percent: options.deletionGuardPercent, min: options.deletionGuardMin };
    const changed = (key: string): void => {
      const [namespace = '', name = ''] = key.split('/');
      onChange({ namespace, name });
    };
    this.#services = new Store<StoredService>({
      equal: (a, b) => isDeepStrictEqual([a.own, a.definition], [b.own, b.definition]),
      onChange: ({ key }) => changed(key),
      holding: { guard, hold: (service) => service, claims: () => [], withoutClaim: () => undefined },
    });
    this.#slices = new Store<StoredSlice>({
      equal: (a, b) =>
        a.service === b.service && isDeepStrictEqual(a.value, b.value) && isDeepStrictEqual(a.skipped, b.skipped),
      onChange: (change) => {
        // Of a slice that is too large, only the name is known.
        const { key, current } = change;
        onSkipped(`slice ${key}`, current?.service === '' ? current.skipped : []);
        for (const service of this.#byService.move(change)) changed(service);
      },
      holding: { guard, ...heldSlices },
    });
    const common = {
      client,
      watchList: 'auto',
      ...(budget !== undefined && { budget }),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      holdMs: options.deletionGuardHoldMs,
    } as const;
    this.#reflectors = [
      new Reflector({
        ...common,
        kind: serviceKind,
        store: this.#services,
        project: (service) => ({ uid: service.metadata.uid, ...readExportedService(service) }),
        projectTooLarge: ({ metadata, tooLarge: detail }): StoredService => ({
          uid: metadata.uid,
          own: { service: 'skipped', detail },
          definition: undefined,
        }),
        hooks: hooks('Services'),
      }),
      new Reflector({
        ...common,
        kind: endpointSliceKind,
        store: this.#slices,
        project: (slice, known) => storedSlice(slice, rules, known),
        projectTooLarge: (slice): StoredSlice => ({
          ...readTooLarge(slice),
          namespace: slice.metadata.namespace,
          service: '',
        }),
        hooks: hooks('EndpointSlices'),
      }),
    ];
  }

  get synced(): boolean {
    return this.#services.view.synced && this.#slices.view.synced;
  }

  /** How many Services and slices are held. */
  get held(): number {
    return this.#services.held + this.#slices.held;
  }

  /** Milliseconds since the more silent of the two watches was active. */
  get silentMs(): number {
    return Math.max(...this.#reflectors.map(({ silentMs }) => silentMs));
  }

  service(namespace: string, name: string): ExportedService {
    const { view } = this.#services;
    return (view.synced ? view.objects.get(`${namespace}/${name}`) : undefined) ?? readExportedService(undefined);
  }

  /** The slices of a Service, in no order, and what is skipped of them. */
  slices(namespace: string, service: string): readonly Reading<SourceSlice>[] {
    return this.#byService.slices(`${namespace}/${service}`);
  }

  /** Measures the first lists against a seed. To be called before `run`. */
  seed({ services, slices }: ServiceSeed): void {
    for (const { namespace, name, exported } of services)
      this.#services.seed(`${namespace}/${name}`, { uid: '', ...exported });
    for (const value of slices) {
      const { namespace, name, service } = value;
      this.#slices.seed(`${namespace}/${name}`, { uid: '', namespace, service, value, skipped: [] });
    }
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run(options: RunOptions): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(options)));
  }
}

/** Undefined for a slice that isn't of a Service, or that is ours. */
function storedSlice(slice: EndpointSlice, rules: SliceRules, known: StoredSlice | undefined): StoredSlice | undefined {
  const { value, skipped } = readExportedSlice(slice, rules, known?.value?.endpoints);
  const { uid, namespace, labels } = slice.metadata;
  if (value === undefined && skipped.length === 0) return undefined;
  return { uid, namespace, service: labels[serviceNameLabel] ?? '', value, skipped };
}
