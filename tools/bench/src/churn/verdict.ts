import { markdownTable } from '@kube-semaphore/images-tool/markdown-table';

/** What an app held at one time, by the name of the figure. */
export type Sample = { readonly atMs: number; readonly figures: Readonly<Record<string, number>> };

/** A figure of all samples, and whether it grows. */
export type Judged = {
  readonly figure: string;
  /** At the start, after a third, after two thirds, at the end. */
  readonly values: readonly number[];
  /** From the first third to the end, by the slope. */
  readonly gain: number;
  /** What the gain may be; undefined: not judged. */
  readonly bound: number | undefined;
  readonly grows: boolean;
};

/**
 * Judges each figure by the median of the slopes between any two samples after the first third: until then, V8 compiles, and
 * pools fill up. One sample that is far off changes nothing.
 *
 * @param bounds what each figure may gain from the first third to the end, by the slope
 */
export function judge(samples: readonly Sample[], bounds: Readonly<Record<string, number>>): readonly Judged[] {
  const last = samples.length - 1;
  const thirds = [0, 1, 2, 3].map((third) => samples[Math.round((third * last) / 3)]!);
  const judged = samples.slice(Math.round(last / 3));
  const tookMs = judged.at(-1)!.atMs - judged[0]!.atMs;
  return Object.keys(samples[0]!.figures).map((figure) => {
    const values = thirds.map(({ figures }) => figures[figure]!);
    const gain = tookMs * slope(judged.map(({ atMs, figures }) => [atMs, figures[figure]!] as const));
    const bound = bounds[figure];
    return { figure, values, gain, bound, grows: bound !== undefined && gain > bound };
  });
}

/** The median of the slopes of all pairs of points; 0 of fewer than two. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return slopes.toSorted((a, b) => a - b)[slopes.length >> 1] ?? 0;
}

/** A table of all figures. */
export function renderVerdict(judged: readonly Judged[]): string {
  const text = (value: number): string => value.toFixed(Number.isInteger(value) ? 0 : 1);
  const rows = judged.map(({ figure, values, gain, bound, grows }) => [
    figure,
    ...values.map(text),
    gain.toFixed(1),
    bound === undefined ? '' : String(bound),
    bound === undefined ? '' : grows ? 'GROWS' : 'flat',
  ]);
  return markdownTable([['', 'start', 'a third', 'two thirds', 'end', 'gain', 'bound', ''], ...rows]);
}
