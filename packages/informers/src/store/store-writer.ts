import type { Kind, KubeObject, TooLarge, WatchEvent } from '@kube-semaphore/kube-objects';
import { Listing } from '../listing.ts';
import type { ReflectorOptions } from '../reflector-options.ts';
import type { BudgetShare } from './remote-budget.ts';
import { entryBytes, type Stored } from './store.ts';

type Options<K extends Kind, V extends Stored> = Pick<
  ReflectorOptions<K, V>,
  'project' | 'projectTooLarge' | 'store' | 'budget'
>;

/** Puts what a server says about objects into the store, as projections and within the remote's budget. */
export class StoreWriter<K extends Kind, V extends Stored> {
  readonly #options: Options<K, V>;
  readonly #share: BudgetShare | undefined;

  constructor(options: Options<K, V>) {
    this.#options = options;
    this.#share = options.budget?.share(options.store);
  }

  beginList(): Listing {
    this.#share?.beginList();
    return new Listing(this.#options.store.size);
  }

  /** @param isHoldOver delete what the list is missing, however much that is */
  finishList({ keys, known }: Listing, { isHoldOver }: { isHoldOver: boolean }): void {
    this.endList();
    this.#options.store.finishList(keys, { known, isHoldOver });
  }

  /** The list under way, if any, is finished or given up. */
  endList(): void {
    this.#share?.endList();
  }

  /** The reflector stops: what it kept no longer counts against the budget. */
  close(): void {
    this.#share?.release();
  }

  /**
   * @param listing the list that the event is a part of; without it, the event is a change
   * @throws OverBudgetError; DecodeError if the list has too many objects
   */
  apply(event: Exclude<WatchEvent<KubeObject<K>>, { type: 'BOOKMARK' | 'ERROR' }>, listing?: Listing): void {
    if (event.type === 'TOO_LARGE') this.putTooLarge(event.object, listing);
    else if (event.type !== 'DELETED') this.put(event.object, listing);
    else {
      listing?.delete(keyOf(event.metadata));
      this.#options.store.delete(keyOf(event.metadata), event.metadata.uid);
    }
  }

  /** As `apply`. */
  put(object: KubeObject<K>, listing?: Listing): void {
    const { metadata } = object as KubeObject<Kind>;
    const { store, project } = this.#options;
    const key = keyOf(metadata);
    if (listing === undefined && store.has(key, metadata)) return;
    this.#put(key, project(object, store.last(key)), listing);
  }

  /** As `apply`. */
  putTooLarge(object: TooLarge, listing?: Listing): void {
    this.#put(keyOf(object.metadata), this.#options.projectTooLarge?.(object), listing);
  }

  #put(key: string, value: V | undefined, listing: Listing | undefined): void {
    const { store } = this.#options;
    if (value === undefined) {
      listing?.delete(key);
      store.delete(key);
      return;
    }
    const bytes = this.#share === undefined ? undefined : entryBytes(key, value);
    if (bytes !== undefined) this.#share?.admit(bytes);
    listing?.add(key);
    if (listing === undefined) store.update(key, value, bytes);
    else store.set(key, value, bytes);
  }
}

/** `namespace/name`, or the name alone. */
const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  namespace === '' ? name : `${namespace}/${name}`;
