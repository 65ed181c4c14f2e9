import { isDeepStrictEqual } from 'node:util';
import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { serviceKind } from '@kube-semaphore/kube-objects';
import { type DiagnosticRegister, Watched } from '@kube-semaphore/multicluster';
import type { SourceSlice } from '../../endpoints/desired/source.ts';
import { type ExportedService, readExportedService } from './read-export.ts';
import { SliceSource, type SliceSourceOptions, type StoredSlice } from '../../endpoints/remote/slices.ts';
import { guardOf, nameOf, watchSettings } from '../../endpoints/remote/stored.ts';

type StoredService = ExportedService & { readonly uid: string };

/** What a cluster had before the process started, as our imports show. */
export type ServiceSeed = {
  readonly services: readonly (Pick<SourceSlice, 'namespace' | 'name'> & { readonly exported: ExportedService })[];
  readonly slices: readonly SourceSlice[];
};

export type ExportedServicesOptions = Pick<SliceSourceOptions, 'client' | 'rules' | 'options' | 'budget'> & {
  readonly hooks: (what: 'Services' | 'EndpointSlices') => ReflectorHooks;
  /** This Service was added, changed or removed, or slices of it were. */
  readonly onChange: (
    at: { readonly namespace: string; readonly name: string },
    change: { readonly what: 'service' | 'slices' },
  ) => void;
  /** Of slices whose Service isn't known, as `slice ns/name`. */
  readonly skipped: Pick<DiagnosticRegister, 'replace'>;
};

/** All Services of a cluster that may be exported, with their slices: an export doesn't change the labels of its Service. */
export class ExportedServices {
  readonly #services: Watched<typeof serviceKind, StoredService>;
  readonly #slices: SliceSource;

  constructor({ client, rules, options, budget, hooks, onChange, skipped }: ExportedServicesOptions) {
    this.#services = new Watched<typeof serviceKind, StoredService>({
      client,
      kind: serviceKind,
      project: (service) => ({ uid: service.metadata.uid, ...readExportedService(service, rules.addresses) }),
      projectTooLarge: ({ metadata, tooLarge: detail }): StoredService => ({
        uid: metadata.uid,
        own: { service: 'skipped', detail },
        definition: undefined,
      }),
      equal: (a, b) => isDeepStrictEqual({ ...a, uid: '' }, { ...b, uid: '' }),
      onChange: ({ key }) => onChange(nameOf(key), { what: 'service' }),
      holding: {
        guard: guardOf({ options }),
        hold: (service) => service,
        claims: () => [],
        withoutClaim: () => undefined,
      },
      ...watchSettings({ options, budget }),
      hooks: hooks('Services'),
    });
    this.#slices = new SliceSource({
      client,
      rules: { ...rules, isAnonymous: true },
      options,
      budget,
      hooks: hooks('EndpointSlices'),
      onChange: ({ key, current }, services) => {
        // Of a slice that is too large, only the name is known.
        skipped.replace(`slice ${key}`, current?.service === '' ? current.skipped : []);
        for (const service of services) onChange(service, { what: 'slices' });
      },
    });
  }

  get synced(): boolean {
    return this.#services.synced && this.#slices.synced;
  }

  /** How many Services and slices are held. */
  get held(): number {
    return this.#services.held + this.#slices.held;
  }

  /** Milliseconds since the more silent of the two watches was active. */
  get silentMs(): number {
    return Math.max(this.#services.silentMs, this.#slices.silentMs);
  }

  service(namespace: string, name: string): ExportedService {
    return this.#services.get(`${namespace}/${name}`) ?? MISSING;
  }

  /** The slices of a Service, in no order. */
  slices(namespace: string, service: string): readonly StoredSlice[] {
    return this.#slices.slices(namespace, service);
  }

  /** Measures the first lists against a seed. To be called before `run`. */
  seed({ services, slices }: ServiceSeed): void {
    for (const { namespace, name, exported } of services)
      this.#services.seed(`${namespace}/${name}`, { uid: '', ...exported });
    this.#slices.seed(slices);
  }

  /** Watches until `signal` is aborted; to be called once. */
  async run(options: RunOptions): Promise<void> {
    await Promise.all([this.#services.run(options), this.#slices.run(options)]);
  }
}

const MISSING = readExportedService(undefined);
