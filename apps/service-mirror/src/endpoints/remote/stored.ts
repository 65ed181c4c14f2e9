import type { RemoteBudget } from '@kube-semaphore/informers';
import type { TooLarge } from '@kube-semaphore/kube-objects';
import type { MirrorOptions } from '../../config/options.ts';
import { addressesOf } from '../desired/compact.ts';
import { type Reading, type SourceSlice, YOUNGEST } from '../desired/source.ts';

/** How sources are watched. */
export type WatchSettings = {
  readonly options: Pick<
    MirrorOptions,
    'watchIdleTimeoutMs' | 'deletionGuardHoldMs' | 'deletionGuardMin' | 'deletionGuardPercent'
  >;
  /** Undefined for the local cluster. */
  readonly budget: RemoteBudget | undefined;
};

/** What all watches of sources have in common. */
export const watchSettings = ({ options, budget }: WatchSettings) =>
  ({
    ...(budget !== undefined && { budget }),
    idleTimeoutMs: options.watchIdleTimeoutMs,
    holdMs: options.deletionGuardHoldMs,
  }) as const;

export const guardOf = ({ options }: Pick<WatchSettings, 'options'>) => ({
  percent: options.deletionGuardPercent,
  min: options.deletionGuardMin,
});

/** The names in the key of a stored object. */
export function nameOf(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

/** What the store of a source keeps of an object. */
export type Stored<T> = Reading<T> & { readonly uid: string };

export function readTooLarge({ metadata, tooLarge: detail }: TooLarge): Stored<never> {
  return { uid: metadata.uid, value: undefined, skipped: [{ kind: 'problem', reason: 'too-large', detail }] };
}

/** A held Service or export loses every conflict with a listed one, as the oldest wins. */
export function asYoungest<S extends Reading<{ readonly createdAt: number }>>(stored: S): S {
  return stored.value === undefined ? stored : { ...stored, value: { ...stored.value, createdAt: YOUNGEST } };
}

/** How a store holds slices: without the addresses that another slice has, until no endpoint remains. */
export const heldSlices = {
  hold: <S>(slice: S): S => slice,
  claims: ({ value }: Reading<SourceSlice>): readonly string[] => value?.endpoints.flatMap(addressesOf) ?? [],
  withoutClaim: <S extends Reading<SourceSlice>>(stored: S, address: string): S | undefined => {
    if (stored.value === undefined) return undefined;
    const isKept = stored.value.endpoints.map((endpoint) => !addressesOf(endpoint).includes(address));
    const endpoints = stored.value.endpoints.filter((_, i) => isKept[i]);
    const pods = stored.value.pods?.filter((_, i) => isKept[i]);
    const nodes = stored.value.nodes?.filter((_, i) => isKept[i]);
    return endpoints.length === 0 ? undefined : { ...stored, value: { ...stored.value, endpoints, pods, nodes } };
  },
};
