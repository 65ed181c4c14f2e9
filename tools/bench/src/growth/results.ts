import { markdownTable } from '@kube-semaphore/images-tool/markdown-table';
import { type Figures, format } from '../report/report.ts';
import { drawChart } from './chart.ts';

/** What an app took with a number of remotes, which had as many percent of the whole size. */
export type Measured = {
  readonly app: string;
  readonly percent: number;
  readonly remotes: number;
  readonly figures: Figures;
};

/** The figures that are drawn, by the name of the file. */
const CHARTS: Readonly<Record<string, { readonly label: string; readonly title: string }>> = {
  time: { label: 'all written after', title: 'Time from exec until all is written, in s' },
  cpu: { label: 'CPU until then', title: 'CPU time until all is written, in s' },
  memory: { label: 'settled memory', title: 'Settled memory, in MB' },
  peak: { label: 'peak memory', title: 'Peak memory, in MB' },
  sockets: { label: 'sockets', title: 'Sockets' },
  turn: { label: 'longest turn until then', title: 'Longest turn of the event loop until all is written, in ms' },
  requests: { label: 'requests per change', title: 'Requests per change' },
  change: { label: 'CPU of a change', title: 'CPU time of a change, in ms' },
  delay: {
    label: 'from the answer to the local object, p99',
    title: 'From the answer to a change to the local object, p99, in ms',
  },
};

/** The results with one more, which replaces an older one of the same app, size and number of remotes. In order. */
export function withResult(results: readonly Measured[], more: Measured): readonly Measured[] {
  const others = results.filter((each) => nameOf(each) !== nameOf(more) || each.remotes !== more.remotes);
  return [...others, more].toSorted((a, b) => a.remotes - b.remotes);
}

/**
 * A table for each app: a column for each number of remotes, and the last one to the one before. Less than the ratio of these
 * numbers is better than linear.
 */
export function renderGrowth(results: readonly Measured[]): string {
  return [...Map.groupBy(results, nameOf)].map(([name, columns]) => `${name}:\n\n${tableOf(columns)}`).join('\n\n');
}

function tableOf(columns: readonly Measured[]): string {
  const [before, last] = columns.slice(-2);
  const labels = new Set(columns.flatMap(({ figures }) => Object.keys(figures)));
  const rows = Array.from(labels, (label) => {
    const figures = columns.map(({ figures: { [label]: figure } }) => figure);
    const cells = figures.map((figure) => format(figure?.[0], figure?.[1] ?? ''));
    const ratio = Number(last?.figures[label]?.[0]) / Number(before?.figures[label]?.[0]);
    return [label, ...cells, ...(last ? [Number.isFinite(ratio) ? ratio.toFixed(2) : ''] : [])];
  });
  const compared =
    before && last ? [`${last.remotes} : ${before.remotes} = ${(last.remotes / before.remotes).toFixed(2)}`] : [];
  return markdownTable([['remotes', ...columns.map(({ remotes }) => String(remotes)), ...compared], ...rows]);
}

/** A chart for each figure, with a line for each app, by the name of its file. */
export function chartsOf(results: readonly Measured[]): ReadonlyMap<string, string> {
  const drawn = Object.entries(CHARTS).map(([file, { label, title }]) => {
    const lines = Array.from(Map.groupBy(results, nameOf), ([name, columns]) => ({
      name,
      points: columns.flatMap(({ remotes, figures }) => {
        const value = figures[label]?.[0];
        return typeof value === 'number' ? [[remotes, value] as const] : [];
      }),
    }));
    const some = lines.filter(({ points }) => points.length > 0);
    return [`growth-${file}.svg`, drawChart({ title, of: 'remotes', lines: some })] as const;
  });
  return new Map(drawn);
}

function nameOf({ app, percent }: Measured): string {
  if (percent === 100) return app;
  return percent === 0 ? `${app}, idle` : `${app}, ${percent} %`;
}
