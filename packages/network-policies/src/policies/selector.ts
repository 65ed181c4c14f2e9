import type { LabelSelector } from '@kube-semaphore/kube-objects';

export type Labels = { readonly [key: string]: string };

export type Requirement = LabelSelector['matchExpressions'][number];

/**
 * Whether a selector selects an object with these labels. An empty selector selects everything.
 *
 * The operators mean what `Requirement.Matches` of k8s.io/apimachinery/pkg/labels says: `NotIn` also matches an object
 * without the key. An operator that no API server accepts matches nothing, so it never opens anything.
 */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  for (const key in matchLabels) if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false;
  return matchExpressions.every((requirement) => holds(requirement, labels));
}

/** The requirements of a selector on one key, the entry of `matchLabels` included. */
export function requirementsOn(key: string, { matchLabels, matchExpressions }: LabelSelector): readonly Requirement[] {
  const value = Object.hasOwn(matchLabels, key) ? matchLabels[key]! : undefined;
  const equals = value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  return [...equals, ...matchExpressions.filter((requirement) => requirement.key === key)];
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key]! : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

/** The same object if its keys are sorted, as those of labels from API servers are. */
export function sortedByKey<T>(fields: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  let previous = '';
  for (const key in fields) {
    if (key < previous) return Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    previous = key;
  }
  return fields;
}
