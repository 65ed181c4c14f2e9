import { expect, it } from 'vitest';
import type { Result } from '../phases/result.ts';
import { policyFigures } from '../policy/figures.ts';
import { type Report, renderJson, renderMarkdown, renderText, verdict } from './report.ts';

const ours: Result = {
  name: 'ours',
  coldSync: {
    firstSeconds: 1,
    allSeconds: 1.6,
    cpuSeconds: 0.8,
    peakMb: 120,
    settledMb: 90,
    requests: { remote: { watch: 1 }, local: { create: 500, watch: 1 } },
  },
};
const theirs: Result = { name: 'theirs', failure: 'out of memory' };

const report: Report = {
  facts: ['10000 pods in 500 sets', '2 cores'],
  results: [ours, theirs],
  figures: policyFigures({ pods: 10_000, sets: 500, bareDownloadSeconds: 0.6 }),
};

it('renders a column per program, then budgets, with failures below', () => {
  expect(renderText(report)).toBe(`10000 pods in 500 sets
2 cores

                                                   ours  theirs  budget
cold sync: first set written after               1.00 s          0.90 s  over
cold sync: all sets written after                1.60 s          1.70 s    ok
cold sync: CPU                                   0.80 s
cold sync: peak memory                           120 MB          115 MB  over
settled memory                                    90 MB
requests to the remote cluster                  watch 1
requests to the local cluster       create 500, watch 1

theirs failed: out of memory`);
});

it('has no budgets if none apply', () => {
  const text = renderText({ ...report, figures: policyFigures(undefined) });
  expect(text).not.toMatch(/budget|over|ok/);
  const other = renderText({
    ...report,
    figures: policyFigures({ pods: 10_001, sets: 500, bareDownloadSeconds: 0.6 }),
  });
  expect(other).not.toContain('1.70 s');
});

it('renders facts and table as Markdown', () => {
  const lines = renderMarkdown(report).split('\n');
  expect(lines.slice(0, 3)).toEqual(['- 10000 pods in 500 sets', '- 2 cores', '']);
  expect(lines[5]).toMatch(/^\| cold sync: first set written after \| +1.00 s \|/);
});

it('has results and verdicts as JSON', () => {
  const { results, budgets } = JSON.parse(renderJson(report)) as { results: Result[]; budgets: object[] };
  expect(results).toEqual([ours, theirs]);
  expect(budgets).toContainEqual({
    figure: 'cold sync: all sets written after',
    value: 1.6,
    budget: 1.7,
    verdict: 'ok',
  });
});

it.each([
  { value: 1, budget: 1, want: 'ok' },
  { value: 1.01, budget: 1, want: 'over' },
  { value: undefined, budget: 1, want: undefined },
  { value: 1, budget: undefined, want: undefined },
])('judges $value against $budget: $want', ({ value, budget, want }) => {
  expect(verdict(value, budget)).toBe(want);
});
