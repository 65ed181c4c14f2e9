import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
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

/** What consumers take unset conditions for (EndpointConditions of discovery.k8s.io/v1), as some of them fail without. */
export const explicitConditions = ({
  ready = true,
  serving = ready,
  terminating = false,
}: Endpoint['conditions']): Endpoint['conditions'] => sharedConditions({ ready, serving, terminating });

const placeOf = (condition: boolean | undefined): number => (condition === undefined ? 0 : condition ? 1 : 2);

/**
 * The name of an endpoint's Pod, if it can be a hostname; `''` otherwise. CoreDNS makes a label of a hostname: with an invalid
 * one, the whole Service has no SRV records.
 */
export const podOf = ({ targetRef: { kind, name } }: Pick<EndpointSlice['endpoints'][number], 'targetRef'>): string =>
  kind === 'Pod' && isDnsLabel(name) ? name : '';

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
