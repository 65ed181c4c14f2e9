import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import type { Endpoint } from './source.ts';

/** Returns one instance for equal texts, to save memory. */
export type Shared = (text: string) => string;

/** For the texts of one slice: its endpoints share most of them. */
export function sharedTexts(): Shared {
  const texts = new Map<string, string>();
  return (text) => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
}

/** All conditions, by `placeOf`: a mirror has tens of thousands of endpoints with the same ones. */
const CONDITIONS: Endpoint['conditions'][] = [];

/** Returns one instance for equal conditions. */
export function sharedConditions({ ready, serving, terminating }: Endpoint['conditions']): Endpoint['conditions'] {
  const place = 9 * placeOf(ready) + 3 * placeOf(serving) + placeOf(terminating);
  return (CONDITIONS[place] ??= Object.freeze({ ready, serving, terminating }));
}

const placeOf = (condition: boolean | undefined): number => (condition === undefined ? 0 : condition ? 1 : 2);

/** The target of an endpoint, with shared texts; undefined if it has no name. */
export function sharedTarget(
  { kind, namespace, name }: EndpointSlice['endpoints'][number]['targetRef'],
  shared: Shared,
): Endpoint['target'] {
  return name === '' ? undefined : { kind: shared(kind), namespace: shared(namespace), name };
}

/** How an endpoint holds its addresses. */
type HeldAddresses = Pick<Endpoint, 'address' | 'otherAddresses'>;

/** All addresses but the first; undefined for none. */
export const othersOf = (addresses: readonly string[]): HeldAddresses['otherAddresses'] =>
  addresses.length > 1 ? addresses.slice(1) : undefined;

/** All addresses of an endpoint; never empty. */
export const addressesOf = ({ address, otherAddresses: others = [] }: HeldAddresses): readonly string[] => [
  address,
  ...others,
];

/** A copy without the spare room for 16 elements that V8 adds to a growing array: most of these have one element. */
export const tight = <T>(items: readonly T[]): readonly T[] => items.slice();
