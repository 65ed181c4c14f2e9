import { expect, it } from 'vitest';
import { readLauncher } from './launcher.ts';

it.each([
  {
    name: 'reads variables and flags',
    line: '#!/usr/bin/env -S A=1 B=2 node --x --y=3',
    want: { env: { A: '1', B: '2' }, execArgv: ['--x', '--y=3'] },
  },
  { name: 'needs neither', line: '#!/usr/bin/env -S node', want: { env: {}, execArgv: [] } },
])('$name', ({ line, want }) => {
  expect(readLauncher(line)).toEqual(want);
});

it.each(['', '#!/bin/sh', '#!/usr/bin/env -S bash', '#!/usr/bin/env -S -i node'])('refuses %j', (line) => {
  expect(() => readLauncher(line)).toThrow('env -S');
});
