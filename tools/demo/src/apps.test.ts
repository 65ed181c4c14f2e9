import { expect, it } from 'vitest';
import { commandLines } from './apps.ts';

it.each([
  { name: 'is the command alone without flags', flags: {}, want: ['policy'] },
  { name: 'gives each flag a line', flags: { a: 'x', b: 'y' }, want: ['policy \\', '    -a x \\', '    -b y'] },
  { name: 'lets a switch stand alone', flags: { a: true, b: 'y' }, want: ['policy \\', '    -a \\', '    -b y'] },
] as const)('$name', ({ flags, want }) => {
  expect(commandLines('policy', flags)).toEqual(want);
});
