import { expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

it.each([
  { name: 'runs and ends by default', args: [], want: { kind: 'run', keep: false, real: false } },
  { name: 'takes flags in any order', args: ['--real', '--keep'], want: { kind: 'run', keep: true, real: true } },
  { name: 'prints the help despite other flags', args: ['--keep', '--help'], want: { kind: 'help' } },
  { name: 'knows the short form of help', args: ['-h'], want: { kind: 'help' } },
  { name: 'names an unknown flag', args: ['--kep'], want: { kind: 'bad-usage', problem: "Unknown option '--kep'" } },
])('$name', ({ args, want }) => {
  expect(readCommandLine(args)).toEqual(want);
});

it.each([
  ['value of a flag', '--keep=yes'],
  ['word', 'keep'],
])('refuses a %s', (_, argument) => {
  expect(readCommandLine([argument])).toMatchObject({ kind: 'bad-usage', problem: expect.stringContaining('keep') });
});
