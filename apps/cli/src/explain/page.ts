import { printable } from '@kube-semaphore/text';
import type { Terminal } from '../output/terminal.ts';
import type { Explanation } from './hops.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** Whether nothing is wrong or unknown. */
export const isFine = ({ hops }: Explanation): boolean =>
  hops.every(({ result }) => result !== 'wrong' && result !== 'unknown');

/** The explanation for programs. */
export const explainPage = (explanation: Explanation): object => ({
  schemaVersion: SCHEMA_VERSION,
  ok: isFine(explanation),
  ...explanation,
});

const signs = { ok: '✓', warning: '!', wrong: '✗', unknown: '?', skipped: '-' } as const;
const colours = { ok: 'green', warning: 'yellow', wrong: 'red', unknown: 'yellow', skipped: 'dim' } as const;

/** The explanation for people: a line for each hop, then the first that is wrong or a warning, with a command. */
export function explainText({ from, to, hops, firstWrong }: Explanation, paint: Terminal['paint']): string {
  const lines = hops.map(
    ({ name, result, detail }) => `${paint(colours[result], signs[result])} ${name.padEnd(14)}  ${printable(detail)}`,
  );
  const first = hops.find(({ name }) => name === firstWrong) ?? hops.find(({ result }) => result === 'warning');
  const unknown = hops.flatMap(({ name, result }) => (result === 'unknown' ? [name] : []));
  const summary = [
    ...(firstWrong === null && unknown.length > 0
      ? [`Nothing is wrong, as far as it is known; unknown: ${unknown.join(', ')}`]
      : []),
    ...(first === undefined ? [] : [`${first.result === 'wrong' ? 'First wrong' : 'Perhaps wrong'}: ${first.name}`]),
    ...(first?.fix === undefined ? [] : [`  ${printable(first.fix)}`]),
    ...(unknown.length === 0 && first === undefined ? ['Every hop is fine.'] : []),
  ];
  return `${[printable(`${from} -> ${to}`), ...lines, '', ...summary].join('\n')}\n`;
}
