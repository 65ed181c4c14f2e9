import { printable } from '@kube-semaphore/text';
import { causesOf, notFresh, notListed, notReached, notReported, seenBy } from '../clusters/causes.ts';
import { type AppPod, apps, type ClusterReport, withoutApps, podsOf, seenRemotes } from '../clusters/report.ts';
import { type Cell, tableLines } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { type AppPair, type Pair, pairsOf, rotationsIn } from './pairs.ts';
import { inventoryIn } from './inventory.ts';
import { drainedIn, movedIn } from './routing.ts';
import { age, rotationText, stateText } from './words.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

type Paint = Terminal['paint'];

/** What is wrong, a sentence for each cause, the worst first: what can't be read, and remotes that aren't reached. */
export function problemsIn(reports: readonly ClusterReport[]): readonly string[] {
  const remotes = seenRemotes(reports);
  const fresh = remotes.filter(({ remote: { up, synced } }) => up && synced);
  return [
    ...unreadIn(reports),
    ...causesOf(
      seenBy(remotes, ({ remote }) => notReached(remote)),
      reports,
    ),
    ...causesOf(
      seenBy(remotes, ({ remote }) => notListed(remote)),
      reports,
    ),
    ...causesOf(
      seenBy(fresh, ({ remote }) => notFresh(remote)),
      reports,
    ),
  ];
}

/** Why there is less to show than there should be, in the same way. */
export const unreadIn = (reports: readonly ClusterReport[]): readonly string[] => [
  ...reports.flatMap(({ failure }) => failure ?? []),
  ...reports.flatMap((report) => withoutApps(report) ?? []),
  ...causesOf(
    seenBy(podsOf(reports), ({ pod }) => notReported(pod)),
    reports,
  ),
];

/** The status for programs. */
export function statusPage(reports: readonly ClusterReport[]): object {
  const pairs = pairsOf(reports);
  return { schemaVersion: SCHEMA_VERSION, clusters: reports, pairs, problems: problemsIn(reports) };
}

/** The status for people. @param nowMs Unix time */
export function statusText(
  reports: readonly ClusterReport[],
  { paint, nowMs }: { paint: Paint; nowMs: number },
): string {
  const pairs = pairsOf(reports);
  const problems = problemsIn(reports).map((problem) => `${paint('red', '✗')} ${printable(problem)}`);
  const leftOut = reports.flatMap((report) => report.leftOut ?? []);
  const rotations = rotationsIn(reports).map(rotationText);
  const warnings = [
    ...(inventoryIn(reports) ?? []),
    ...drainedIn(reports),
    ...movedIn(reports),
    ...rotations,
    ...leftOut,
  ].map((warning) => `${paint('yellow', '!')} ${printable(warning)}`);
  const parts = [
    appLines(reports),
    pairs.length === 0 ? [] : pairLines(pairs, { paint, nowMs }),
    [...problems, ...warnings],
  ].filter((lines) => lines.length > 0);
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function appLines(reports: readonly ClusterReport[]): readonly string[] {
  const rows = reports.flatMap(({ cluster, pods }) =>
    apps.flatMap((app) => {
      const own = pods.filter((pod) => pod.app === app);
      if (own.length === 0) return [];
      const versions = new Set(own.flatMap(({ status }) => ('failure' in status ? [] : [status.version])));
      const ready = `${own.filter((pod) => pod.ready).length}/${own.length}`;
      const leader = own.filter(isLeader).map(({ name }) => name);
      return [[cluster, app, [...versions].toSorted().join(', ') || '?', ready, leader.join(', ') || '-'].map(plain)];
    }),
  );
  return rows.length === 0 ? [] : tableLines(['CLUSTER', 'APP', 'VERSION', 'READY', 'LEADER'], rows);
}

const isLeader = ({ status }: AppPod): boolean => !('failure' in status) && status.leader === true;

const plain = (text: string): Cell => ({ text });

function pairLines(pairs: readonly Pair[], { paint, nowMs }: { paint: Paint; nowMs: number }): readonly string[] {
  const painted = (text: string, isGood: boolean): Cell => ({
    text,
    paint: (cell) => paint(isGood ? 'green' : 'red', cell),
  });
  const cellOf = (pair: AppPair | undefined): Cell =>
    pair === undefined ? plain('-') : painted(stateText(pair), pair.state === 'up');
  const rows = pairs.map(({ from, to, apps: all, tunnels, lastChange }) => [
    plain(from),
    plain(to),
    ...apps.map((app) => cellOf(all[app])),
    tunnels === null ? plain('-') : painted(`${tunnels.up}/${tunnels.all}`, tunnels.up === tunnels.all),
    plain(lastChange === null ? '-' : `${age(nowMs - Date.parse(lastChange))} ago`),
  ]);
  return tableLines(['FROM', 'TO', 'POLICY', 'SERVICE-MIRROR', 'WIREGUARD', 'TUNNELS', 'LAST CHANGE'], rows);
}
