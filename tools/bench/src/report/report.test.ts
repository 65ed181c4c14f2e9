import { expect, it } from 'vitest';
import { type Report, renderJson, renderMarkdown, type Round } from './report.ts';

const rounds = (...seconds: number[]): Round[] =>
  seconds.map((time) => {
    return { figures: { time: [time, 's'], memory: [120, 'MB'], requests: [{ create: 500, watch: 1 }], writes: [30] } };
  });

const report: Report = {
  facts: ['10000 pods in 500 sets', '2 cores'],
  columns: [
    { name: 'ours', rounds: rounds(9, 1.6, 1.5) },
    { name: 'theirs', rounds: [...rounds(2, 4), { figures: {}, failure: 'out of memory' }] },
  ],
  targets: { time: 1.7, memory: 115, idle: 0.5 },
};

it('renders medians of the rounds, ratios to the peer, targets and verdicts, with failures below', () => {
  expect(renderMarkdown(report)).toBe(`- 10000 pods in 500 sets
- 2 cores

|          |                ours |              theirs | ratio | target |        |
| -------- | ------------------: | ------------------: | ----: | -----: | -----: |
| time     |              1.60 s |              2.00 s |  0.80 | 1.70 s |    met |
| memory   |              120 MB |              120 MB |  1.00 | 115 MB | missed |
| requests | create 500, watch 1 | create 500, watch 1 |  1.00 |        |    met |
| writes   |                  30 |                  30 |  1.00 |        |    met |

theirs failed in round 3: out of memory`);
});

it('says in each row that there is no peer, or that it has no value', () => {
  const alone = { ...report, columns: report.columns.slice(0, 1) };
  expect(renderMarkdown(alone)).toMatch(/^\| time +\| +1\.60 s \| no peer \| 1\.70 s \| +met \|$/m);
  const failed = { ...report, columns: [...alone.columns, { name: 'theirs', rounds: [{ figures: {} }] }] };
  expect(renderMarkdown(failed)).toMatch(/^\| time +\| +1\.60 s \| +\| no peer \| 1\.70 s \| +met \|$/m);
});

it.each([
  { ours: 1, theirs: 1, ratio: '1.00', verdict: 'met' },
  { ours: 1.004, theirs: 1, ratio: '1.00', verdict: 'met' },
  { ours: 1.006, theirs: 1, ratio: '1.01', verdict: 'missed' },
  { ours: 1.8, theirs: 2, ratio: '0.90', verdict: 'missed' }, // over the target
  { ours: 0, theirs: 0, ratio: '1.00', verdict: 'met' },
])('judges $ours against $theirs: $ratio, $verdict', ({ ours, theirs, ratio, verdict }) => {
  const columns = [
    { name: 'ours', rounds: rounds(ours) },
    { name: 'theirs', rounds: rounds(theirs) },
  ];
  expect(renderMarkdown({ ...report, columns })).toMatch(RegExp(`^. time .* ${ratio} .* ${verdict} .$`, 'm'));
});

it('has a ratio for each peer, and is met only if no peer is better', () => {
  const columns = ['ours', 'slow', 'fast'].map((name, index) => ({ name, rounds: rounds([1, 2, 0.5][index]!) }));
  expect(renderMarkdown({ ...report, columns })).toMatch(/^. time .* 0\.50 .* 2\.00 .* missed .$/m);
});

it('has all rounds, ratios and verdicts as JSON', () => {
  const { columns, rows } = JSON.parse(renderJson(report)) as { columns: object[]; rows: object[] };
  expect(columns).toEqual(report.columns);
  const row = { label: 'time', unit: 's', target: 1.7, medians: [1.6, 2], ratios: [0.8], verdict: 'met' };
  expect(rows).toContainEqual(row);
});
