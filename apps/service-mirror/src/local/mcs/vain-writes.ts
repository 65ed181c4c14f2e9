import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '@kube-semaphore/kube-objects';
import type { McsChange } from '../../desired/mcs/changes.ts';

/** `why`: the API server's message; undefined if it ignored the change, as its definition of the kind lacks a field. */
export type Vain = { readonly change: unknown; readonly why: string | undefined };

/** Changes that the API server refused or ignored, by key. The same change to the same object isn't sent again. */
export class VainWrites {
  readonly #byKey = new Map<string, readonly Vain[]>();

  /** Undefined if the change wasn't in vain. */
  find(key: string, change: McsChange): Vain | undefined {
    const all = this.#byKey.get(key);
    if (all === undefined) return undefined;
    const timeless = withoutTimes(change);
    return all.find((each) => isDeepStrictEqual(each.change, timeless));
  }

  add(key: string, change: McsChange, why?: string): void {
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), { change: withoutTimes(change), why }]);
  }

  /** Forgets all changes of a key but these. */
  retain(key: string, due: readonly Vain[]): void {
    if (due.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, due);
  }
}

/** A condition that changes gets the time of the write. */
function withoutTimes(change: McsChange): unknown {
  const timeless = (conditions: readonly Condition[]) =>
    conditions.map((condition) => ({ ...condition, lastTransitionTime: '' }));
  if (change.kind === 'update-export-status') return { ...change, conditions: timeless(change.conditions) };
  if (change.kind !== 'update-import-status') return change;
  return { ...change, to: { ...change.to, conditions: timeless(change.to.conditions) } };
}
