import { printable } from '@kube-semaphore/text';
import { some } from '../output/some.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Check, type Finding } from './check.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** What became of a check. `skipped`: there is nothing of the kind. */
export type CheckResult = Pick<Check, 'name' | 'hint'> & {
  readonly result: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly findings: readonly Finding[];
};

/** Runs each check. */
export const resultsOf = <R>(checks: readonly Check<R>[], readings: readonly R[]): readonly CheckResult[] =>
  checks.map(({ name, hint, find }) => {
    const findings = find(readings);
    if (findings === undefined) return { name, hint, result: 'skipped', findings: [] };
    const [result = 'ok'] = (['problem', 'warning'] as const).filter((each) =>
      findings.some(({ severity }) => severity === each),
    );
    return { name, hint, result, findings };
  });

/** Whether no check found a problem. */
export const isFine = (results: readonly CheckResult[]): boolean => results.every(({ result }) => result !== 'problem');

/** The results for programs. */
export const checkPage = (results: readonly CheckResult[]): object => ({
  schemaVersion: SCHEMA_VERSION,
  ok: isFine(results),
  checks: results,
});

const signs = { ok: '✓', note: '✓', warning: '!', problem: '✗', skipped: '-' } as const;
const colours = { ok: 'green', note: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;

/** The results for people: a line for each finding, or one for a check without any. */
export function checkText(results: readonly CheckResult[], paint: Terminal['paint']): string {
  const lines = results.flatMap(({ name, hint, result, findings }) => {
    if (findings.length === 0) return [`${paint(colours[result], signs[result])} ${name}`];
    const found = findings.map(({ severity, detail, objects = [] }) => {
      const text = objects.length === 0 ? detail : `${detail}: ${some(objects)}`;
      return `${paint(colours[severity], signs[severity])} ${name}: ${printable(text)}`;
    });
    return result === 'ok' ? found : [...found, `  ${hint}: docs/check.md#${name}`];
  });
  return `${lines.join('\n')}\n`;
}
