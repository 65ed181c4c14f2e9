import { expect, it } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

const seed = () => 7;

it.each([
  { args: ['--app', 'policy'], want: { apps: ['policy'], seed: 7, minutes: 5, rounds: undefined, replicas: 2 } },
  {
    args: ['--app', 'all', '--seed', '3', '--minutes', '60'],
    want: { apps: ['service-mirror', 'policy'], seed: 3, minutes: 60 },
  },
  { args: ['--app', 'policy', '--rounds', '2', '--replicas', '1'], want: { rounds: 2, replicas: 1 } },
])('reads $args', ({ args, want }) => {
  expect(parseOptions(args, seed)).toMatchObject(want);
});

it.each([
  { args: [], message: '--app must be one of service-mirror, policy, all' },
  { args: ['--app', 'cli'], message: '--app must be one of' },
  { args: ['--app', 'policy', '--seed', 'x'], message: '--seed must be a whole number' },
  { args: ['--app', 'policy', '--replicas', '3'], message: '--replicas must be 1 or 2' },
  { args: ['--pods'], message: "Unknown option '--pods'" },
])('refuses $args', ({ args, message }) => {
  expect(() => parseOptions(args, seed)).toThrow(UsageError);
  expect(() => parseOptions(args, seed)).toThrow(message);
});

it('asks for help', () => {
  expect(parseOptions(['--help'], seed)).toBe('help');
});
