import { Reflector, type ReflectorHooks, type RemoteBudget, Store } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Pod, podKind, type TooLarge } from '@kube-semaphore/kube-objects';
import { labelDomains, nameLabel } from '@kube-semaphore/naming';
import type { LabelledPods } from './label-domain.ts';

/** That a Pod carries the label is all that is kept of it. */
type LabelledPod = { readonly uid: string };

export type DomainWatchOptions = {
  readonly client: KubeClient;
  /** Which Pods can be members. */
  readonly fieldSelector: string;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly budget: RemoteBudget;
  /** Of the remote as a whole: it has synced when both domains have. */
  readonly hooks: ReflectorHooks;
  /** Other Pods carry a label now. */
  readonly onChange: () => void;
};

/** Which Pods of a remote carry the name label of which known domain, for as long as nothing says which domain counts. */
export class DomainWatch {
  readonly #watches: readonly { readonly domain: string; readonly store: Store<LabelledPod>; readonly reflector: Reflector<typeof podKind, LabelledPod> }[];

  constructor({ onChange, hooks, ...options }: DomainWatchOptions) {
    this.#watches = labelDomains.map((domain) => {
      const store = new Store<LabelledPod>({ equal: () => true, onChange });
      const project = ({ metadata }: Pod): LabelledPod | undefined => (nameLabel(domain) in metadata.labels ? { uid: metadata.uid } : undefined);
      const projectTooLarge = ({ metadata }: TooLarge): LabelledPod => ({ uid: metadata.uid });
      const onSynced = (): void => {
        if (this.synced) hooks.onSynced?.();
      };
      const reflector = new Reflector({
        ...options,
        kind: podKind,
        labelSelector: nameLabel(domain),
        watchList: 'auto',
        project,
        projectTooLarge,
        store,
        hooks: { ...hooks, onSynced },
      });
      return { domain, store, reflector };
    });
  }

  /** Whether the first lists of both are complete. */
  get synced(): boolean {
    return this.#watches.every(({ store }) => store.view.synced);
  }

  /** Milliseconds since the watch that is worst off last stirred. */
  get silentMs(): number {
    return Math.max(...this.#watches.map(({ reflector }) => reflector.silentMs));
  }

  /** What both have seen. */
  get pods(): LabelledPods {
    return new Map(this.#watches.map(({ domain, store }) => [domain, new Set(store.view.synced ? store.view.objects.keys() : [])]));
  }

  /** Watches until `signal` is aborted; once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(this.#watches.map(({ reflector }) => reflector.run({ signal })));
  }
}
