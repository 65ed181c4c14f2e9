import { printable } from '@kube-semaphore/text';
import type { DrainStatus } from '../clusters/app-status.ts';
import { some } from '../output/some.ts';
import { drainWords } from '../status/routing.ts';
import { tableLines } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Effect } from './effect.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

type Paint = Terminal['paint'];

/** What becomes of a drain in one cluster. */
export type Drained = Effect & {
  /** The context. */
  readonly cluster: string;
  readonly change: 'drained' | 'undrained' | 'unchanged';
  /** The drain that there was; null: there was none. */
  readonly before: DrainStatus | null;
  /** What isn't done yet. */
  readonly pending: readonly string[];
};

/** Which cluster, and the other clusters that no context was given for. */
export type About = {
  readonly cluster: string;
  readonly isDrain: boolean;
  readonly unreached: readonly string[];
};

/** Whether all is done. */
export const isFine = (clusters: readonly Drained[]): boolean => clusters.every(({ pending }) => pending.length === 0);

/** For programs. */
export const drainPage = (clusters: readonly Drained[], { cluster, unreached }: About): object => ({
  schemaVersion: SCHEMA_VERSION,
  ok: isFine(clusters),
  name: cluster,
  clusters,
  unreached,
});

const words: Readonly<Record<Drained['change'], string>> = {
  drained: 'begins',
  undrained: 'ends',
  unchanged: 'as before',
};

/** For people: what will change, and what they should know about it. */
export function drainPlanText(clusters: readonly Drained[], about: About, paint: Paint): string {
  const { cluster, isDrain, unreached } = about;
  const rows = clusters.map((each) => [
    { text: each.cluster },
    { text: words[each.change] },
    ...(isDrain ? [{ text: `${each.moving.length}` }, { text: `${each.staying.length}` }] : []),
  ]);
  const heading = ['CLUSTER', `DRAIN OF ${cluster}`, ...(isDrain ? ['SERVICES THAT MOVE', 'THAT STAY'] : [])];
  const notes = [
    ...(isDrain ? clusters.flatMap((each) => notesOf(each, cluster)) : []),
    ...unreached.map((name) => `${name} has no --context: nothing changes there`),
  ];
  return text([tableLines(heading, rows), notes.map((note) => `${paint('yellow', '!')} ${printable(note)}`)]);
}

function notesOf({ cluster: context, staying, headless, before }: Drained, cluster: string): readonly string[] {
  return [
    ...(before === null ? [] : [`${context}: ${drainWords(before)}`]),
    ...(staying.length === 0
      ? []
      : [`${context}: no other cluster can answer for ${some(staying)}: ${cluster} still does`]),
    ...(headless.length === 0
      ? []
      : [`${context}: DNS no longer has the Pods of ${cluster} in the headless ${some(headless)}`]),
  ];
}

/** For people: what came of it. */
export function drainText(clusters: readonly Drained[], { cluster, isDrain }: About, paint: Paint): string {
  const pending = clusters.flatMap(({ cluster: context, pending: found }) =>
    found.length === 0 ? [] : [`${paint('red', '✗')} ${printable(`${context}: not yet: ${some(found, '; ')}`)}`],
  );
  const done = isDrain
    ? `new connections avoid ${cluster} where another cluster can answer`
    : `${cluster} gets connections again`;
  return text([pending.length > 0 ? pending : [`${paint('green', '✓')} ${printable(done)}`]]);
}

const text = (parts: readonly (readonly string[])[]): string =>
  `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
