import { isDeepStrictEqual } from 'node:util';
import { Reflector, type ReflectorHooks, type RemoteBudget, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { serviceExportKind, type TooLarge } from '@kube-semaphore/kube-objects';
import { type Diagnostic, POLL_INTERVAL_MS } from '@kube-semaphore/multicluster';
import type { MirrorOptions } from '../config/options.ts';
import { type Reading, YOUNGEST } from '../desired/source.ts';
import { readExport, type SourceExport } from './read/export.ts';

type Stored = Reading<SourceExport> & { readonly uid: string };

export type ExportSourceOptions = {
  readonly client: KubeClient;
  readonly options: Pick<
    MirrorOptions,
    'watchIdleTimeoutMs' | 'deletionGuardHoldMs' | 'deletionGuardMin' | 'deletionGuardPercent'
  >;
  /** Undefined for the local cluster. */
  readonly budget: RemoteBudget | undefined;
  readonly hooks: ReflectorHooks;
  /** The export of this namespace and name was added, changed or removed. */
  readonly onChange: (at: Pick<SourceExport, 'namespace' | 'name'>) => void;
  /** What is skipped of an object (`export ns/name`) from now on. */
  readonly onSkipped: (subject: string, skipped: readonly Diagnostic[]) => void;
};

/**
 * The ServiceExports of one cluster. They are unknown, not missing, until a first list is complete: so also while the
 * cluster has no definition of them (404), or not in our version, or forbids to list them (403).
 */
export class ExportSource {
  readonly #store: Store<Stored>;
  readonly #reflector: Reflector<typeof serviceExportKind, Stored>;

  constructor({ client, options, budget, hooks, onChange, onSkipped }: ExportSourceOptions) {
    const guard = { percent: options.deletionGuardPercent, min: options.deletionGuardMin };
    this.#store = new Store<Stored>({
      equal: (a, b) => isDeepStrictEqual(a, b),
      onChange: ({ key, current }) => {
        onSkipped(`export ${key}`, current?.skipped ?? []);
        const [namespace = '', name = ''] = key.split('/');
        onChange({ namespace, name });
      },
      holding: { guard, hold: asYoungest, claims: () => [], withoutClaim: () => undefined },
    });
    this.#reflector = new Reflector({
      client,
      kind: serviceExportKind,
      watchList: 'auto',
      project: (each) => ({ uid: each.metadata.uid, ...readExport(each) }),
      projectTooLarge,
      store: this.#store,
      ...(budget !== undefined && { budget }),
      idleTimeoutMs: options.watchIdleTimeoutMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      holdMs: options.deletionGuardHoldMs,
      hooks,
    });
  }

  /** Whether its exports can be decided about. */
  get known(): boolean {
    return this.#store.view.synced;
  }

  /** How many deletions are held. */
  get held(): number {
    return this.#store.held;
  }

  /** Milliseconds since the watch was active. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Undefined if there is none, or if it isn't known. */
  export(namespace: string, name: string): SourceExport | undefined {
    const { view } = this.#store;
    return view.synced ? view.objects.get(`${namespace}/${name}`)?.value : undefined;
  }

  /** Watches until `signal` is aborted; to be called once. */
  run(options: RunOptions): Promise<void> {
    return this.#reflector.run(options);
  }
}

const projectTooLarge = ({ metadata, tooLarge: detail }: TooLarge): Stored => ({
  uid: metadata.uid,
  value: undefined,
  skipped: [{ kind: 'problem', reason: 'too-large', detail }],
});

/** A held export loses every conflict with a listed one, as the oldest wins. */
const asYoungest = (stored: Stored): Stored =>
  stored.value === undefined ? stored : { ...stored, value: { ...stored.value, createdAt: YOUNGEST } };
