import { expect, it } from 'vitest';
import type { Figure } from './figure.ts';
import { type Report, renderJson, renderMarkdown, renderText } from './report.ts';
import type { Result } from '../phases/result.ts';

const coldSync = {
  firstSeconds: 1,
  allSeconds: 1.6,
  cpuSeconds: 0.8,
  peakMb: 120,
  settledMb: 90,
  requests: { remote: {}, local: { create: 500, watch: 1 } },
};
const rounds = (...seconds: number[]): Result[] =>
  seconds.map((allSeconds) => ({ coldSync: { ...coldSync, allSeconds } }));

const time: Figure = { label: 'time', value: (result) => result.coldSync?.allSeconds, unit: 's', target: 1.7 };
const memory: Figure = { label: 'memory', value: (result) => result.coldSync?.peakMb, unit: 'MB', target: 115 };
const requests: Figure = { label: 'requests', value: (result) => result.coldSync?.requests.local, unit: '' };
const idle: Figure = { label: 'idle', value: (result) => result.idle?.cpuPercent, unit: '%' };

const report: Report = {
  facts: ['10000 pods in 500 sets', '2 cores'],
  columns: [
    { name: 'ours', rounds: rounds(9, 1.6, 1.5) },
    { name: 'theirs', rounds: [...rounds(2, 4), { failure: 'out of memory' }] },
  ],
  figures: [time, memory, requests, idle],
};

it('renders medians of the rounds, ratios to the peer, targets and verdicts, with failures below', () => {
  expect(renderText(report)).toBe(`10000 pods in 500 sets
2 cores

                         ours               theirs  ratio  target
time                   1.60 s               2.00 s   0.80  1.70 s     met
memory                 120 MB               120 MB   1.00  115 MB  missed
requests  create 500, watch 1  create 500, watch 1   1.00             met

theirs failed in round 3: out of memory`);
});

it('says in each row that there is no peer', () => {
  const alone = { ...report, columns: report.columns.slice(0, 1) };
  expect(renderText(alone)).toBe(`10000 pods in 500 sets
2 cores

                         ours    ratio  target
time                   1.60 s  no peer  1.70 s     met
memory                 120 MB  no peer  115 MB  missed
requests  create 500, watch 1  no peer`);
});

it('says that a peer has no value', () => {
  const failed = [report.columns[0]!, { name: 'theirs', rounds: [{ failure: 'it failed' }] }];
  expect(renderText({ ...report, columns: failed })).toMatch(/^time +1\.60 s +no peer +1\.70 s +met$/m);
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
  const [, head, row] = renderText({ facts: [], columns, figures: [time] }).split('\n');
  expect(head).toMatch(/ratio/);
  expect(row).toMatch(new RegExp(` ${ratio} .* ${verdict}$`));
});

it('has a ratio for each peer, and is met only if no peer is better', () => {
  const columns = ['ours', 'slow', 'fast'].map((name, index) => ({ name, rounds: rounds([1, 2, 0.5][index]!) }));
  expect(renderText({ facts: [], columns, figures: [time] })).toMatch(/0\.50 .* 2\.00 .* missed$/);
});

it('renders facts and table as Markdown', () => {
  const lines = renderMarkdown(report).split('\n');
  expect(lines.slice(0, 3)).toEqual(['- 10000 pods in 500 sets', '- 2 cores', '']);
  expect(lines[5]).toMatch(/^\| time +\| +1.60 s \| +2.00 s \| +0.80 \| +1.70 s \| +met \|$/);
});

it('has all rounds, ratios and verdicts as JSON', () => {
  const { columns, rows } = JSON.parse(renderJson(report)) as { columns: object[]; rows: object[] };
  expect(columns).toEqual(report.columns);
  expect(rows).toContainEqual({
    label: 'time',
    unit: 's',
    target: 1.7,
    medians: [1.6, 2],
    ratios: [0.8],
    verdict: 'met',
  });
});
