import { printable } from '@kube-semaphore/text';
import type { Terminal } from '../output/terminal.ts';
import type { Explanation } from './explain.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** Whether nothing is wrong or unknown. */
export const isFine = ({ hops }: Explanation): boolean =>
  hops.every(({ result }) => result !== 'wrong' && result !== 'unknown');

const WORST = ['wrong', 'unknown', 'warning'] as const;

/** The first of the worst pairs of Pods. @param all at least one */
function shownOf(all: readonly Explanation[]): Explanation {
  const found = WORST.map((worst) => all.find(({ hops }) => hops.some(({ result }) => result === worst)));
  return found.find((each) => each !== undefined) ?? all[0]!;
}

/** What became of one pair of Pods. */
export type PairResult = Pick<Explanation, 'from' | 'to' | 'firstWrong'> & { readonly ok: boolean };

/** The explanations for programs: that of the worst pair of Pods, and what became of each. */
export const explainPage = (all: readonly Explanation[]): object => ({
  schemaVersion: SCHEMA_VERSION,
  ...shownOf(all),
  ok: all.every(isFine),
  pairs: all.map((each): PairResult => {
    const { from, to, firstWrong } = each;
    return { from, to, ok: isFine(each), firstWrong };
  }),
});

const signs = { ok: '✓', warning: '!', wrong: '✗', unknown: '?', skipped: '-' } as const;
const colours = { ok: 'green', warning: 'yellow', wrong: 'red', unknown: 'yellow', skipped: 'dim' } as const;

/**
 * The explanations for people: of the worst pair of Pods a line for each hop, then the first that is wrong or a warning, with a
 * command; then the other pairs that aren't fine.
 */
export function explainText(all: readonly Explanation[], paint: Terminal['paint']): string {
  const shown = shownOf(all);
  const { from, to, hops } = shown;
  const lines = hops.map(
    ({ name, result, detail }) => `${paint(colours[result], signs[result])} ${name.padEnd(14)}  ${printable(detail)}`,
  );
  return `${[printable(`${from} -> ${to}`), ...lines, '', ...summaryOf(shown), ...pairLines(all, shown)].join('\n')}\n`;
}

function summaryOf({ hops, firstWrong }: Explanation): readonly string[] {
  const first = hops.find(({ name }) => name === firstWrong) ?? hops.find(({ result }) => result === 'warning');
  const unknown = unknownIn(hops);
  return [
    ...(firstWrong === null && unknown.length > 0
      ? [`Nothing is wrong, as far as it is known; unknown: ${unknown.join(', ')}`]
      : []),
    ...(first === undefined ? [] : [`${first.result === 'wrong' ? 'First wrong' : 'Perhaps wrong'}: ${first.name}`]),
    ...(first?.fix === undefined ? [] : [`  ${printable(first.fix)}`]),
    ...(unknown.length === 0 && first === undefined ? ['Every hop is fine.'] : []),
  ];
}

const unknownIn = (hops: Explanation['hops']): readonly string[] =>
  hops.flatMap(({ name, result }) => (result === 'unknown' ? [name] : []));

/** A terminal has room for so many. */
const MOST_PAIRS = 10;

function pairLines(all: readonly Explanation[], shown: Explanation): readonly string[] {
  if (all.length === 1) return [];
  const wrong = all.filter((each) => !isFine(each));
  const others = wrong.filter((each) => each !== shown);
  return [
    `${all.length - wrong.length} of ${all.length} pairs of Pods are fine.${others.length === 0 ? '' : ' Also not fine:'}`,
    ...others
      .slice(0, MOST_PAIRS)
      .map(({ from, to, hops, firstWrong }) =>
        printable(`  ${from} -> ${to}: ${firstWrong ?? `unknown: ${unknownIn(hops).join(', ')}`}`),
      ),
    ...(others.length > MOST_PAIRS ? [`  and ${others.length - MOST_PAIRS} more`] : []),
  ];
}
