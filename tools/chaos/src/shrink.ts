import type { Round, Step } from './script.ts';

/**
 * A smaller script that still fails: leaves out halves of all steps, then quarters, and at last single ones. Empty rounds go.
 *
 * @param attempts how many scripts to try at most
 */
export async function shrink(
  script: readonly Round[],
  fails: (smaller: readonly Round[]) => Promise<boolean>,
  attempts: number,
): Promise<readonly Round[]> {
  let steps = script.flatMap((round, nth) => round.map((step) => ({ step, nth })));
  let left = attempts;
  for (let size = Math.ceil(steps.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length && left > 0; left -= 1) {
      const without = steps.toSpliced(at, size);
      if (without.length > 0 && (await fails(roundsOf(without)))) steps = without;
      else at += size;
    }
  }
  return roundsOf(steps);
}

const roundsOf = (steps: readonly { readonly step: Step; readonly nth: number }[]): readonly Round[] =>
  Array.from(Map.groupBy(steps, ({ nth }) => nth).values(), (round) => round.map(({ step }) => step));
