import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { quoted } from '@kube-semaphore/text';

/** Which clusters a level has. `same`: those whose property has the value of the local cluster's. */
export type Term =
  | { readonly kind: 'local' }
  | { readonly kind: 'others' }
  | { readonly kind: 'cluster'; readonly cluster: string }
  | { readonly kind: 'property'; readonly property: string; readonly value: string }
  | { readonly kind: 'same'; readonly property: string };

/** The clusters of any of the terms. `text`: as it is written in an order. */
type Level = { readonly text: string; readonly terms: readonly Term[] };

/** Which clusters answer; the best level first. Never empty. */
export type ClusterOrder = readonly Level[];

/** What a Service without an order has if it is local-first, and otherwise. */
export const LOCAL_FIRST: ClusterOrder = [
  { text: 'local', terms: [{ kind: 'local' }] },
  { text: '*', terms: [{ kind: 'others' }] },
];
export const EVERYWHERE: ClusterOrder = LOCAL_FIRST.slice(1);

/** How many endpoints of a level must be ready, or how many of a hundred. */
export type MinReady = { readonly count: number } | { readonly percent: number };

/** An order is written by hand. A remote is only partly trusted, so its text and what we make of it are bounded. */
const [MOST_CHARACTERS, MOST_LEVELS, MOST_TERMS] = [1_024, 16, 64];

/** The value that means that of the local cluster, so no property can have it. */
const SAME = 'same';

/**
 * Parses `local; region=same; *`: levels, the best first; each a list of `local`, names of clusters, `property=value`,
 * `property=same`, or `*` for all clusters that no level names otherwise.
 */
export function parseClusterOrder(text: string): Parsed<ClusterOrder> {
  if (text.length > MOST_CHARACTERS)
    return bad(`${quoted(text)} has ${text.length} characters, at most ${MOST_CHARACTERS} are allowed`);
  const lists = text.split(';').map((list) => list.split(',').map((term) => term.trim()));
  if (lists.length > MOST_LEVELS)
    return bad(`${quoted(text)} has ${lists.length} levels, at most ${MOST_LEVELS} are allowed`);
  const count = lists.reduce((sum, terms) => sum + terms.length, 0);
  if (count > MOST_TERMS)
    return bad(`${quoted(text)} names clusters ${count} times, at most ${MOST_TERMS} are allowed`);
  const order: Level[] = [];
  for (const texts of lists) {
    const terms = texts.map(termOf);
    const wrong = terms.indexOf(undefined);
    if (wrong !== -1) return bad(`${quoted(texts[wrong]!)} is not local, *, the name of a cluster, or property=value`);
    order.push({ text: texts.join(', '), terms: terms.filter((term) => term !== undefined) });
  }
  return good(order);
}

/** An order as `parseClusterOrder` reads it; equal orders have equal texts. */
export const orderText = (order: ClusterOrder): string => order.map(({ text }) => text).join('; ');

/** Parses `2` or `50%`. */
export function parseMinReady(text: string): Parsed<MinReady> {
  const [, digits, percent] = /^([1-9]\d{0,5})(%?)$/.exec(text) ?? [];
  const number = Number(digits);
  if (digits === undefined || (percent === '%' && number > 100))
    return bad(`${quoted(text)} is not a number of endpoints from 1 to 999999, or from 1% to 100%`);
  return good(percent === '%' ? { percent: number } : { count: number });
}

/** As `parseMinReady` reads it. */
export const minReadyText = (min: MinReady): string => ('count' in min ? `${min.count}` : `${min.percent}%`);

/** Why a property of a cluster can't be named in an order; undefined if it can. The end of a sentence. */
export function propertyProblem(property: string, value: string): string | undefined {
  if (!isLabelKey(property)) return 'has a name that is not valid: it must be like the key of a label';
  if (value === '' || !isLabelValue(value))
    return 'has a value that is not valid: it must be like the value of a label';
  return value === SAME ? `has the value ${SAME}, which means that of the local cluster` : undefined;
}

function termOf(text: string): Term | undefined {
  if (text === 'local') return { kind: 'local' };
  if (text === '*') return { kind: 'others' };
  const equals = text.indexOf('=');
  if (equals === -1) return text !== '' && isLabelValue(text) ? { kind: 'cluster', cluster: text } : undefined;
  const [property, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (value === SAME) return isLabelKey(property) ? { kind: 'same', property } : undefined;
  return propertyProblem(property, value) === undefined ? { kind: 'property', property, value } : undefined;
}
