import { jsonPage, printable } from '@kube-semaphore/text';
import type { Terminal } from '../output/terminal.ts';
import type { Explanation } from './hops.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** Whether each hop is known to be fine. */
export const isFine = ({ hops }: Explanation): boolean =>
  hops.every(({ result }) => result === 'ok' || result === 'skipped');

/** The explanation for programs. @param strip as that of `jsonPage` */
export const explainJson = (explanation: Explanation, strip?: (text: string) => string): string =>
  jsonPage({ schemaVersion: SCHEMA_VERSION, ok: isFine(explanation), ...explanation }, strip);

const signs = { ok: '✓', wrong: '✗', unknown: '?', skipped: '-' } as const;
const colours = { ok: 'green', wrong: 'red', unknown: 'yellow', skipped: 'dim' } as const;

/** The explanation for people: a line for each hop, then the first that is wrong, with a command. */
export function explainText({ from, to, hops, firstWrong }: Explanation, paint: Terminal['paint']): string {
  const lines = hops.map(
    ({ name, result, detail }) => `${paint(colours[result], signs[result])} ${name.padEnd(14)}  ${printable(detail)}`,
  );
  const first = hops.find(({ name }) => name === firstWrong);
  const unknown = hops.flatMap(({ name, result }) => (result === 'unknown' ? [name] : []));
  const fix = first?.fix === undefined ? [] : [`  ${printable(first.fix)}`];
  const summary =
    first !== undefined
      ? [`First wrong: ${first.name}`, ...fix]
      : unknown.length > 0
        ? [`Nothing is wrong, as far as it is known; unknown: ${unknown.join(', ')}`]
        : ['Every hop is fine.'];
  return `${[printable(`${from} -> ${to}`), ...lines, '', ...summary].join('\n')}\n`;
}
