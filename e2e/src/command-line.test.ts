import { expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

it.each([
  {
    name: 'keeps two nodes in each cluster',
    args: ['--keep'],
    want: { nodes: 2, images: [], registryPort: undefined, command: [] },
  },
  {
    name: 'leaves the apps to a command',
    args: ['--registry', '5000', 'sh'],
    want: { nodes: 2, images: [], registryPort: 5000, command: ['sh'] },
  },
  {
    name: 'leaves the flags of a command to it',
    args: ['--nodes', '1', '--image', 'a', '--image', 'b', '--', 'go', 'test', '-v'],
    want: { nodes: 1, images: ['a', 'b'], registryPort: undefined, command: ['go', 'test', '-v'] },
  },
])('$name', ({ args, want }) => {
  expect(readCommandLine(args)).toEqual({ kind: 'run', ...want });
});

it.each([
  { name: 'nothing to do', args: ['--nodes', '2'], want: /--keep or a command/ },
  { name: 'a command and --keep', args: ['--keep', 'true'], want: /--keep or a command/ },
  { name: 'no nodes', args: ['--keep', '--nodes', '0'], want: /--nodes/ },
  { name: 'a registry elsewhere', args: ['--keep', '--registry', 'r.example:5000'], want: /--registry/ },
  { name: 'an unknown flag', args: ['--keeps'], want: /--keeps/ },
])('refuses $name', ({ args, want }) => {
  expect(readCommandLine(args)).toEqual({ kind: 'bad-usage', problem: expect.stringMatching(want) });
});
