import { describe, expect, it } from 'vitest';
import { chartsOf, type Measured, renderGrowth, withResult } from './results.ts';

const result = (app: string, remotes: number, seconds: number, percent = 100): Measured => ({
  app,
  percent,
  remotes,
  figures: { 'all written after': [seconds, 's'] },
});

describe('withResult', () => {
  const known = [result('policy', 1, 0.5), result('policy', 250, 9)];

  it('replaces an older result, and keeps the numbers of remotes in order', () => {
    expect(withResult(known, result('policy', 1, 0.6))).toEqual([result('policy', 1, 0.6), known[1]]);
    expect(withResult(known, result('policy', 10, 1))).toEqual([known[0], result('policy', 10, 1), known[1]]);
  });

  it.each([
    { name: 'of another app', more: result('companions', 1, 2) },
    { name: 'of another size', more: result('policy', 1, 2, 0) },
  ])('keeps one $name', ({ more }) => {
    expect(withResult(known, more)).toHaveLength(3);
  });
});

it('compares the most remotes with the next fewer ones in a table for each app and size', () => {
  const text = renderGrowth([
    result('policy', 1, 0.5),
    result('policy', 100, 4),
    result('policy', 250, 8),
    result('policy', 1, 0.1, 0),
  ]);
  expect(text).toMatch(/^policy:\n\n\| remotes +\| +1 \| +100 \| +250 \| 250 : 100 = 2\.50 \|$/m);
  expect(text).toMatch(/^\| all written after \| 0\.50 s \| 4\.00 s \| 8\.00 s \| +2\.00 \|$/m);
  expect(text).toMatch(/^policy, idle:\n\n\| remotes +\| +1 \|\n.*\n\| all written after \| 0\.10 s \|$/m);
});

it('has no ratio to nothing', () => {
  const text = renderGrowth([result('policy', 1, 0), result('policy', 100, 4)]);
  expect(text).toMatch(/^\| all written after \| 0\.00 s \| 4\.00 s \| +\|$/m);
});

it('draws a line for each app that has the figure', () => {
  const charts = chartsOf([result('policy', 1, 0.5), result('companions', 1, 2)]);
  expect(charts.get('growth-time.svg')).toMatch(/>policy<[^]*>companions</);
  expect(charts.get('growth-sockets.svg')).not.toContain('polyline points');
});
