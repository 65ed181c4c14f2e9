import type { AppPair, State } from './pairs.ts';

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
