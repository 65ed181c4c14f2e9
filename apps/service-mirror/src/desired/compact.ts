import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import type { Endpoint } from './source.ts';

/** Makes one of equal texts. */
export type Shared = (text: string) => string;

/** For the texts of one slice, whose endpoints have most of them in common. */
export function sharedTexts(): Shared {
  const texts = new Map<string, string>();
  return (text) => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
}

/** All that conditions can be; a mirror has tens of thousands of endpoints, and most of them are just ready. */
const CONDITIONS = new Map<string, Endpoint['conditions']>();

/** The same object for the same conditions. */
export function sharedConditions({ ready, serving, terminating }: Endpoint['conditions']): Endpoint['conditions'] {
  const key = `${ready} ${serving} ${terminating}`;
  const known = CONDITIONS.get(key);
  if (known !== undefined) return known;
  const conditions = Object.freeze({ ready, serving, terminating });
  CONDITIONS.set(key, conditions);
  return conditions;
}

/** The reference of an endpoint with shared texts; undefined if it names nothing. */
export function sharedTarget(
  { kind, namespace, name }: EndpointSlice['endpoints'][number]['targetRef'],
  shared: Shared,
): Endpoint['target'] {
  return name === '' ? undefined : { kind: shared(kind), namespace: shared(namespace), name };
}

/** A copy without the room for 16 more that V8 gives an array when it is first added to: nearly all of these have one element. */
export const tight = <T>(items: readonly T[]): readonly T[] => items.slice();
