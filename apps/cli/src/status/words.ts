import { some } from '../output/some.ts';
import type { AppPair, PairRotation, State } from './pairs.ts';

/** A state, for people. */
const stateWords: Readonly<Record<State, string>> = {
  up: 'up',
  stale: 'stale',
  'not-synced': 'not synced',
  down: 'not reached',
  unknown: 'unknown',
};

/** What an app has of a remote, or why it has nothing. */
export function stateText({ state, objects }: AppPair): string {
  if (state !== 'up' || objects === null) return stateWords[state];
  return Object.entries(objects)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** Which keys rotate, as a sentence. */
export function rotationText({ from, to, rotation: { nodes, remoteNodes, laggards } }: PairRotation): string {
  const oldest = nodes.map(({ since }) => since).toSorted()[0];
  const facts = [
    ...(oldest === undefined ? [] : [`of ${some(nodes.map(({ node }) => node))} since ${oldest}`]),
    ...(remoteNodes.length === 0 ? [] : [`of ${some(remoteNodes)} in ${to}`]),
  ];
  const what = facts.length === 0 ? 'the nodes come back to their first devices' : facts.join(', and ');
  const late = laggards.length === 0 ? '' : `; not there yet: ${some(laggards)}`;
  return `${from}: keys for ${to} rotate: ${what}${late}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** In the largest unit. @param ms below 0 is 0 */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
