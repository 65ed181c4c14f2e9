import { total, type VerbCounts } from '../measure/requests.ts';
import type { Column } from '../phases/result.ts';
import type { Figure } from './figure.ts';
import { type Table, toMarkdown, toText } from './table.ts';

/** The report of a bench. */
export type Report = {
  /** The conditions, one per line. */
  readonly facts: readonly string[];
  /** Ours first, then its peers. */
  readonly columns: readonly Column[];
  /** In the order of the table. */
  readonly figures: readonly Figure[];
};

/** A fact of the report. */
export const medianFact = (rounds: number): string =>
  `each figure is the median of ${rounds} round${rounds === 1 ? '' : 's'}; a ratio is ours to the peer's, and met up to 1`;

type Value = number | VerbCounts | undefined;

/** A figure that any program has: medians of the rounds, in the order of the columns, and what follows from them. */
type Row = {
  readonly figure: Figure;
  readonly medians: readonly Value[];
  /** Ours to that of each peer; undefined without one of the two. */
  readonly ratios: readonly (number | undefined)[];
  readonly verdict: 'met' | 'missed' | undefined;
};

const DECIMALS = { s: 2, ms: 1, MB: 0, kB: 0, '%': 2, '': 2 } as const satisfies Record<Figure['unit'], number>;

/** For a terminal. */
export function renderText(report: Report): string {
  return [...report.facts, '', toText(tableOf(report)), ...failures(report)].join('\n');
}

/** For the docs. */
export function renderMarkdown(report: Report): string {
  const facts = report.facts.map((fact) => `- ${fact}`);
  return [...facts, '', toMarkdown(tableOf(report)), ...failures(report), ''].join('\n');
}

/** For programs: the results of all rounds, and the rows of the table. */
export function renderJson(report: Report): string {
  const { facts, columns } = report;
  const rows = rowsOf(report).map(({ figure: { label, unit, target }, ...row }) => ({ label, unit, target, ...row }));
  return `${JSON.stringify({ facts, columns, rows }, undefined, 2)}\n`;
}

function tableOf(report: Report): Table {
  const [ours, ...peers] = report.columns.map(({ name }) => name);
  const noPeers = peers.length === 0;
  const head = ['', ours ?? '', ...(noPeers ? ['ratio'] : peers.flatMap((name) => [name, 'ratio'])), 'target', ''];
  const rows = rowsOf(report).map(({ figure, medians: [mine, ...theirs], ratios, verdict }) => [
    figure.label,
    format(mine, figure),
    ...(noPeers ? ['no peer'] : theirs.flatMap((value, index) => [format(value, figure), formatRatio(ratios[index])])),
    format(figure.target, figure),
    verdict ?? '',
  ]);
  return [head, ...rows];
}

function rowsOf({ columns, figures }: Report): Row[] {
  const rows = figures.map((figure) => {
    const [mine, ...theirs] = columns.map(({ rounds }) => median(rounds.map(figure.value)));
    const ratios = theirs.map((value) => ratio(mine, value));
    return { figure, medians: [mine, ...theirs], ratios, verdict: verdict(mine, ratios, figure.target) };
  });
  return rows.filter(({ medians }) => medians.some((value) => value !== undefined));
}

/** The middle one, or the smaller one of two. */
function median(values: readonly Value[]): Value {
  const known = values.filter((value) => value !== undefined).toSorted((a, b) => size(a) - size(b));
  return known[Math.ceil(known.length / 2) - 1];
}

/** With two decimals, so that the verdict is about what the table shows. */
function ratio(mine: Value, theirs: Value): number | undefined {
  if (mine === undefined || theirs === undefined) return undefined;
  return size(mine) === size(theirs) ? 1 : Math.round((100 * size(mine)) / size(theirs)) / 100;
}

/** Met if ours isn't over its target, nor over any peer. */
function verdict(mine: Value, ratios: Row['ratios'], target: number | undefined): Row['verdict'] {
  const known = ratios.filter((each) => each !== undefined);
  if (mine === undefined || (target === undefined && known.length === 0)) return undefined;
  return size(mine) <= (target ?? Infinity) && known.every((each) => each <= 1) ? 'met' : 'missed';
}

const size = (value: number | VerbCounts): number => (typeof value === 'number' ? value : total(value));

function failures({ columns }: Report): string[] {
  return columns.flatMap(({ name, rounds }) =>
    rounds.flatMap(({ failure }, round) =>
      failure === undefined ? [] : ['', `${name} failed in round ${round + 1}: ${failure}`],
    ),
  );
}

const formatRatio = (value: number | undefined): string => value?.toFixed(2) ?? 'no peer';

function format(value: Value, { unit }: Figure): string {
  if (value === undefined) return '';
  if (typeof value === 'number')
    return unit === '' && Number.isInteger(value) ? `${value}` : `${value.toFixed(DECIMALS[unit])} ${unit}`.trimEnd();
  return Object.entries(value)
    .map(([verb, count]) => `${verb} ${count}`)
    .join(', ');
}
