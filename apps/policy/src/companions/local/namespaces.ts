import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { namespaceKind } from '@kube-semaphore/kube-objects';
import { type DiagnosticRegister, Watched } from '@kube-semaphore/multicluster';
import { type ClusterIds, namespaceDiagnostics } from '@kube-semaphore/network-policies';
import type { LocalNetworkPolicies } from './network-policies.ts';

export type LocalNamespacesOptions = {
  readonly client: KubeClient;
  readonly ids: ClusterIds;
  readonly idleTimeoutMs: number;
  readonly hooks: ReflectorHooks;
  /** They get the values once the Namespaces are listed, and when the set of values changes. */
  readonly policies: Pick<LocalNetworkPolicies, 'setLocalValues'>;
  /** Of the local cluster. */
  readonly skipped: Pick<DiagnosticRegister, 'replace'>;
};

type KnownNamespace = { readonly uid: string; readonly value: string | undefined };

/** Watches the cluster label of the local Namespaces, which decides what the CNI makes of a NetworkPolicy that names it. */
export class LocalNamespaces {
  readonly #options: LocalNamespacesOptions;
  #ids: ClusterIds;
  readonly #namespaces: Watched<typeof namespaceKind, KnownNamespace>;
  /** How many Namespaces have each value. */
  readonly #counts = new Map<string | undefined, number>();

  constructor(options: LocalNamespacesOptions) {
    const { client, ids, idleTimeoutMs, hooks } = options;
    this.#options = options;
    this.#ids = ids;
    this.#namespaces = new Watched<typeof namespaceKind, KnownNamespace>({
      client,
      kind: namespaceKind,
      project: ({ metadata: { uid, labels } }) => ({
        uid,
        value: Object.hasOwn(labels, ids.key) ? labels[ids.key] : undefined,
      }),
      idleTimeoutMs,
      hooks: {
        ...hooks,
        onSynced: () => {
          this.#report();
          // The config may have changed meanwhile.
          this.#diagnoseAll();
          hooks.onSynced?.();
        },
      },
      equal: (a, b) => a.value === b.value,
      onChange: ({ key, previous, current }) => {
        const size = this.#counts.size;
        if (current !== undefined) this.#count(current.value, +1);
        const isNew = this.#counts.size !== size;
        if (previous !== undefined) this.#count(previous.value, -1);
        this.#diagnose(key, current);
        if (isNew || this.#counts.size !== size) this.#report();
      },
    });
  }

  get silentMs(): number {
    return this.#namespaces.silentMs;
  }

  /** Watches until `signal` is aborted. */
  run(running: RunOptions): Promise<void> {
    return this.#namespaces.run(running);
  }

  /** The config changed. @param ids as they are now */
  configChanged(ids: ClusterIds): void {
    this.#ids = ids;
    this.#diagnoseAll();
  }

  #diagnoseAll(): void {
    for (const [name, namespace] of this.#namespaces.objects ?? []) this.#diagnose(name, namespace);
  }

  #diagnose(name: string, current: KnownNamespace | undefined): void {
    const diagnostics = current === undefined ? [] : namespaceDiagnostics(current.value, this.#ids);
    this.#options.skipped.replace(`namespace ${name}`, diagnostics);
  }

  #count(value: string | undefined, step: 1 | -1): void {
    const count = (this.#counts.get(value) ?? 0) + step;
    if (count === 0) this.#counts.delete(value);
    else this.#counts.set(value, count);
  }

  /** Before the first list, a label that no Namespace has isn't known to be missing. */
  #report(): void {
    if (this.#namespaces.synced) this.#options.policies.setLocalValues(new Set(this.#counts.keys()));
  }
}
