import { jsonPage, printable } from '@kube-semaphore/text';
import { tableLines } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { DNS_CONFIG_MAPS } from '../dns/config.ts';
import { type Applied, nameOf } from './apply/api.ts';
import { accounts } from './apply/apply.ts';
import { type Change, changedLines, COPIES } from './files/folder.ts';
import type { Finding } from './findings/findings.ts';
import type { RangeChange } from './range-changes.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** More files than these are only counted. */
const SOME = 3;

/** Of a line, as terminals have it. */
const WIDTH = 80;

/** An object of a cluster, and what was done to it, or would be. */
export type ObjectChange = {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly change: Applied;
};

/** What a run found of a cluster, and did. */
export type LinkedCluster = {
  readonly context: string;
  /** Undefined: it is not known, or refused. */
  readonly name?: string | undefined;
  readonly findings: readonly Finding[];
  /** Undefined: the run wrote no files. */
  readonly folder?: { readonly path: string; readonly change: Change } | undefined;
  readonly ranges: readonly RangeChange[];
  readonly objects: readonly ObjectChange[];
  /** Why other objects are not known. */
  readonly unknown?: string | undefined;
  /** Whose names its Corefile has. */
  readonly names: readonly string[];
};

export type LinkPage = {
  /** Objects were changed, and not only compared. */
  readonly isApplied: boolean;
  readonly clusters: readonly LinkedCluster[];
  readonly notes: readonly string[];
  readonly problems: readonly string[];
  /** A command. */
  readonly next?: string | undefined;
};

/** The page for programs. */
export const linkJson = ({ isApplied, clusters, notes, problems, next }: LinkPage): string =>
  jsonPage({
    schemaVersion: SCHEMA_VERSION,
    ok: problems.length === 0,
    applied: isApplied,
    clusters: clusters.map(({ context, name, findings, folder, ranges, objects, unknown }) => ({
      cluster: context,
      name,
      findings,
      folder: folder?.path,
      files: folder && filesIn(folder.change),
      ranges,
      objects,
      unknown,
    })),
    notes,
    problems,
    next,
  });

type FileNames = Readonly<Record<'created' | 'changed' | 'removed', readonly string[]>>;

function filesIn({ before, after }: Change): FileNames {
  const differing = [...after].filter(([name, text]) => text !== before.get(name));
  const those = (is: (name: string, text: string | undefined) => boolean) =>
    differing.filter(([name, text]) => is(name, text)).map(([name]) => name);
  return {
    created: those((name) => !before.has(name)),
    changed: those((name, text) => before.has(name) && text !== undefined),
    removed: those((_, text) => text === undefined),
  };
}

/** The page for people. @param diff with each line of a file, and each object */
export function linkText(
  page: LinkPage,
  options: { readonly diff: boolean; readonly paint: Terminal['paint'] },
): string {
  const { clusters, problems } = page;
  const isFailed = problems.length > 0;
  const found = options.diff || isFailed || clusters.some(({ folder }) => folder && isChanged(folder.change));
  // Of a run that failed, what it did before.
  const shown = isFailed ? clusters.filter((each) => !isSame(each)) : clusters;
  return `${found ? foundText(clusters) : ''}${shown.length === 0 ? '' : summaryText({ ...page, clusters: shown }, options)}`;
}

const isChanged = (change: Change): boolean => Object.values(filesIn(change)).flat().length > 0;

/** Whether a run finds a cluster as an earlier one left it. */
export const isSame = ({ folder, objects, unknown }: LinkedCluster): boolean =>
  (folder === undefined || !isChanged(folder.change)) &&
  objects.every(({ change }) => change === 'unchanged') &&
  unknown === undefined;

/** What was found of clusters, and which ranges change. */
function foundText(clusters: readonly Pick<LinkedCluster, 'context' | 'name' | 'findings' | 'ranges'>[]): string {
  const found = clusters.flatMap(({ context, findings }) =>
    findings.map(({ what, found: value, source }) => [context, what, value, source]),
  );
  const ranges = clusters.flatMap(({ context, name = context, ranges: changes }) =>
    changes.map(({ file, field, remote = name, removed, added }) => [
      name,
      file,
      field,
      remote,
      removed.join(', '),
      added.join(', '),
    ]),
  );
  return (
    table(['CONTEXT', 'WHAT', 'FOUND', 'SOURCE'], found) +
    table(['CLUSTER', 'FILE', 'FIELD', 'RANGES OF', 'REMOVED', 'ADDED'], ranges)
  );
}

const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `${tableLines(
        heading,
        rows.map((row) => row.map((text) => ({ text }))),
      ).join('\n')}\n\n`;

/** `created`, or `to create` if it wasn't done. */
const verbOf = (change: Applied, applied: boolean): string =>
  applied || change === 'unchanged' ? change : change === 'created' ? 'to create' : 'to change';

/** What changes, by cluster. */
function summaryText(
  { isApplied: applied, clusters, notes, next }: LinkPage,
  { diff, paint }: { readonly diff: boolean; readonly paint: Terminal['paint'] },
): string {
  const lines = clusters.flatMap((cluster) => [
    ...(diff ? detailLines(cluster, { applied, paint }) : []),
    ...(isSame(cluster)
      ? [`${printable(cluster.context)}: nothing changes`]
      : [`${printable(cluster.context)}:`, ...rowsOf(cluster, applied).flatMap(wrapped)]),
  ]);
  const last =
    next === undefined ? [] : [`${applied || clusters.every(isSame) ? 'now' : 'to apply it'}: ${printable(next)}`];
  return `${[...lines, ...notes.map((note) => printable(note)), ...last].join('\n')}\n`;
}

/** A label, and words that may stand in lines of their own. */
type Row = readonly [label: string, words: readonly string[]];

function rowsOf({ folder, objects, unknown, names }: LinkedCluster, applied: boolean): readonly Row[] {
  const isDns = ({ kind, namespace, name }: ObjectChange): boolean =>
    kind === 'ConfigMap' && DNS_CONFIG_MAPS.includes(`${namespace}/${name}`);
  const dns = objects.filter((each) => isDns(each) && each.change !== 'unchanged');
  const counts = countWords(
    objects.filter((each) => !isDns(each)),
    { applied, names },
  );
  return [
    ...(folder && isChanged(folder.change) ? [['files', fileWords(folder.path, filesIn(folder.change))] as const] : []),
    ...(counts.length === 0 ? [] : [['objects', counts] as const]),
    ...(dns.length === 0
      ? []
      : [
          [
            'DNS',
            [`${dns.map(dnsWord).join(', ')} ${verbOf('changed', applied)}:`, `names of ${names.join(', ')}`],
          ] as const,
        ]),
    ...(unknown === undefined ? [] : [['objects', `not known: ${unknown}`.split(' ')] as const]),
  ];
}

const dnsWord = ({ name }: ObjectChange): string => (name === 'coredns' ? 'Corefile' : name);

/** `mesh/c1: 7 files and 30 manifests created; link.json changed` */
function fileWords(path: string, files: FileNames): readonly string[] {
  const words = (['created', 'changed', 'removed'] as const).flatMap((what) => {
    const own = files[what].filter((name) => !name.startsWith(`${COPIES}/`)).toSorted();
    const copies = files[what].length - own.length;
    const parts = [
      ...(own.length === 0 ? [] : [own.length > SOME ? `${own.length} files` : own.join(', ')]),
      ...(copies === 0 ? [] : [counted(copies, 'manifest')]),
    ];
    return parts.length === 0 ? [] : [`${parts.join(' and ')} ${what}`];
  });
  return `${path}: ${words.join('; ')}`.split(' ');
}

/** `46 created: 3 apps, 2 Namespaces; 3 changed: 3 tokens` */
function countWords(
  objects: readonly ObjectChange[],
  { applied, names }: { readonly applied: boolean; readonly names: readonly string[] },
): readonly string[] {
  const tokens = names.flatMap((name) => accounts.map(({ app }) => `${app}-${name}`));
  const kindOf = ({ kind, name }: ObjectChange): string => {
    if (kind === 'Deployment' || kind === 'DaemonSet') return 'app';
    return kind === 'Secret' && tokens.includes(name) ? 'token' : kind;
  };
  const parts = (['created', 'changed', 'unchanged'] as const).flatMap((change) => {
    const those = objects.filter((each) => each.change === change);
    if (those.length === 0) return [];
    const verb = verbOf(change, applied);
    if (change === 'unchanged') return [[`${those.length} ${verb}`]];
    const kinds = Object.entries(Object.groupBy(those, kindOf)).map(([kind, { length } = []]) => ({ kind, length }));
    const isOurs = (kind: string): boolean => kind === 'app' || kind === 'token';
    const sorted = kinds.toSorted(
      (a, b) => Number(isOurs(b.kind)) - Number(isOurs(a.kind)) || (a.kind < b.kind ? -1 : 1),
    );
    return [
      listed(
        `${those.length} ${verb}:`,
        sorted.map(({ kind, length }) => counted(length, kind)),
      ),
    ];
  });
  return parts.flatMap((words, i) => (i === parts.length - 1 ? words : [...words.slice(0, -1), `${words.at(-1)};`]));
}

function counted(count: number, what: string): string {
  if (count === 1) return `1 ${what}`;
  return `${count} ${what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}s`}`;
}

/** Words of a list, with commas. */
const listed = (start: string, items: readonly string[]): readonly string[] =>
  items.map((item, i) => `${i === 0 ? `${start} ` : ''}${item}${i === items.length - 1 ? '' : ','}`);

const LABEL = 'objects  '.length;

function wrapped([label, words]: Row): readonly string[] {
  const lines: string[] = [];
  for (const word of words.map((each) => printable(each))) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(`  ${(last === undefined ? label : '').padEnd(LABEL)}${word}`);
  }
  return lines;
}

const detailLines = (
  { context, folder, objects }: LinkedCluster,
  { applied, paint }: { readonly applied: boolean; readonly paint: Terminal['paint'] },
): readonly string[] => [
  ...(folder === undefined ? [] : diffLines(folder.path, folder.change, paint)),
  ...objects.map((each) =>
    printable(`${context}: ${nameOf({ ...each, metadata: each })} ${verbOf(each.change, applied)}`),
  ),
];

/** Lines of a diff, escaped. */
export const diffLines = (path: string, change: Change, paint: Terminal['paint']): readonly string[] =>
  changedLines(path, change).map(({ mark, text }) => {
    const line = printable(mark === ' ' ? text : `${mark} ${text}`, Infinity);
    return mark === ' ' ? line : paint(mark === '+' ? 'green' : 'red', line);
  });
