import { markdownTable } from '@kube-semaphore/images-tool/markdown-table';
import { total, type VerbCounts } from '../measure/requests.ts';

type Value = number | VerbCounts;
type Unit = keyof typeof DECIMALS;

/** What a phase measured, by the text of its line in the table. Less is better in all of them. */
export type Figures = Readonly<Record<string, readonly [value: Value, unit?: Unit]>>;

/** The limits for our program, by the text of the line; undefined: none. */
export type Targets = Readonly<Record<string, number | undefined>>;

/** The figures of one round of a program; with the error that ended it, if it did. */
export type Round = { readonly figures: Figures; readonly failure?: string };

/** A program, and its rounds. */
export type Column = { readonly name: string; readonly rounds: readonly Round[] };

/** The report of a bench. */
export type Report = {
  /** The conditions, one per line. */
  readonly facts: readonly string[];
  /** Ours first, then its peers. */
  readonly columns: readonly Column[];
  readonly targets: Targets;
  /** Up to which ratio to another column a line is met. Default: 1. */
  readonly mostRatio?: number;
};

/** A line of the table: medians of the rounds, in the order of the columns, and what follows from them. */
type Row = {
  readonly label: string;
  readonly unit: Unit;
  readonly target: number | undefined;
  readonly medians: readonly (Value | undefined)[];
  /** Ours to that of each peer; undefined without one of the two. */
  readonly ratios: readonly (number | undefined)[];
  readonly verdict: 'met' | 'missed' | undefined;
};

const DECIMALS = { s: 2, ms: 1, MB: 0, kB: 0, '%': 2, '': 2 } as const;

/** The facts, an aligned table, and failures. */
export function renderMarkdown(report: Report): string {
  const [ours = '', ...peers] = report.columns.map(({ name }) => name);
  const compared = peers.length === 0 ? ['ratio'] : peers.flatMap((name) => [name, 'ratio']);
  const rows = rowsOf(report).map(({ label, unit, target, medians: [mine, ...theirs], ratios, verdict }) => {
    const comparisons = theirs.flatMap((value, index) => [format(value, unit), ratios[index]?.toFixed(2) ?? 'no peer']);
    return [
      label,
      format(mine, unit),
      ...(peers.length === 0 ? ['no peer'] : comparisons),
      format(target, unit),
      verdict ?? '',
    ];
  });
  const failures = report.columns.flatMap(({ name, rounds }) =>
    rounds.flatMap(({ failure }, index) =>
      failure === undefined ? [] : ['', `${name} failed in round ${index + 1}: ${failure}`],
    ),
  );
  const table = markdownTable([['', ours, ...compared, 'target', ''], ...rows]);
  return [...report.facts.map((fact) => `- ${fact}`), '', table, ...failures].join('\n');
}

/** For programs: the results of all rounds, and the rows of the table. */
export function renderJson(report: Report): string {
  const { facts, columns } = report;
  return `${JSON.stringify({ facts, columns, rows: rowsOf(report) }, undefined, 2)}\n`;
}

function rowsOf({ columns, targets, mostRatio = 1 }: Report): Row[] {
  const labels = new Set(columns.flatMap(({ rounds }) => rounds.flatMap(({ figures }) => Object.keys(figures))));
  return Array.from(labels, (label) => {
    const measured = columns.map(({ rounds }) =>
      rounds.flatMap(({ figures: { [label]: figure } }) => (figure ? [figure] : [])),
    );
    const unit = measured.flat()[0]?.[1] ?? '';
    const [mine, ...theirs] = measured.map((figures) => median(figures.map(([value]) => value)));
    const ratios = theirs.map((value) => ratio(mine, value));
    const target = targets[label];
    return {
      label,
      unit,
      target,
      medians: [mine, ...theirs],
      ratios,
      verdict: verdictOf(mine, ratios, { target, mostRatio }),
    };
  });
}

/** The middle one, or the smaller one of two. */
function median(values: readonly Value[]): Value | undefined {
  return values.toSorted((a, b) => size(a) - size(b))[Math.ceil(values.length / 2) - 1];
}

/** With two decimals, so that the verdict is about what the table shows. */
function ratio(mine: Value | undefined, theirs: Value | undefined): number | undefined {
  if (mine === undefined || theirs === undefined) return undefined;
  return size(mine) === size(theirs) ? 1 : Math.round((100 * size(mine)) / size(theirs)) / 100;
}

/** Met if ours isn't over its target, nor over any peer by more than this ratio. */
function verdictOf(
  mine: Value | undefined,
  ratios: Row['ratios'],
  { target, mostRatio }: { readonly target: number | undefined; readonly mostRatio: number },
): Row['verdict'] {
  const known = ratios.filter((each) => each !== undefined);
  if (mine === undefined || (target === undefined && known.length === 0)) return undefined;
  return size(mine) <= (target ?? Infinity) && known.every((each) => each <= mostRatio) ? 'met' : 'missed';
}

const size = (value: Value): number => (typeof value === 'number' ? value : total(value));

/** A value with its unit; empty without one. */
export function format(value: Value | undefined, unit: Unit): string {
  if (value === undefined) return '';
  if (typeof value === 'object')
    return Object.entries(value)
      .map((entry) => entry.join(' '))
      .join(', ');
  return unit === '' && Number.isInteger(value) ? `${value}` : `${value.toFixed(DECIMALS[unit])} ${unit}`.trimEnd();
}
