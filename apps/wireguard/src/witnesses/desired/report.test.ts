import { expect, it } from 'vitest';
import { reportPatch } from './report.ts';

const KEY = 'c2.wireguard.semaphore.uw.io/silent';

it.each([
  { name: 'is written', names: ['m2', 'm1'], present: undefined, want: { [KEY]: 'm1,m2 of 3' } },
  { name: 'stays if it has the same names', names: ['m1'], present: 'm1 of 2', want: undefined },
  { name: 'is replaced if another one is silent', names: ['m1'], present: 'm2 of 3', want: { [KEY]: 'm1 of 3' } },
  { name: 'replaces what is none', names: ['m1'], present: 'm1', want: { [KEY]: 'm1 of 3' } },
  { name: 'is removed if all answer', names: [], present: 'm1 of 3', want: { [KEY]: null } },
  { name: 'is not removed twice', names: [], present: undefined, want: undefined },
])('a report $name', ({ names, present, want }) => {
  const annotations = { 'c3.wireguard.semaphore.uw.io/silent': 'x', ...(present !== undefined && { [KEY]: present }) };
  expect(reportPatch('c2', annotations, { silent: new Set(names), nodes: 3 })).toEqual(want);
});

it('names 200 nodes at most', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `m${String(i).padStart(4, '0')}`);
  const text = reportPatch('c2', {}, { silent: new Set(names), nodes: 5_000 })![KEY]!;
  expect(text.split(' of ')).toEqual([names.slice(0, 200).join(), '5000']);
});
