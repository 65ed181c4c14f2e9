import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

/** What an app must have done when it is quiet. */
export type Work = {
  /** How many objects were written at first. */
  readonly count: number;
  /** The names of those of the round before. */
  readonly before: ReadonlySet<string>;
  /** How many things got a name in this round that nothing was called like before. */
  readonly newThings: number;
};

/** A name of an object of a collection, of all kinds and namespaces. */
export const writtenName = (collection: string, { metadata: { namespace = '', name } }: KubeObject): string =>
  `${collection.split('/').at(-1)} ${namespace}/${name}`;

/**
 * Why an app hasn't done its work yet; undefined if it has. A count alone says nothing of one that hangs: it writes as many objects
 * as at first. Drains are a thing for which nothing is written, and of two new things one is another.
 *
 * @param names of the written objects
 */
export function undone(names: ReadonlySet<string>, { count, before, newThings }: Work): string | undefined {
  if (names.size !== count) return `${names.size} objects are written instead of ${count}`;
  const isStill = newThings > 1 && [...names].every((name) => before.has(name));
  return isStill ? `no written object has a new name, after ${newThings} new things` : undefined;
}
