import { expect, it } from 'vitest';
import { againCommand, commandLine } from './options.ts';

/** Reads a command line. Its errors are thrown, and not written to the terminal. */
function read(...args: readonly string[]): object {
  let result = {};
  const program = commandLine(async (options) => void (result = options));
  program.configureOutput({ writeOut() {}, writeErr() {} }).parse(args, { from: 'user' });
  return result;
}

const usual = { minutes: 5, replicas: 2, shrink: 0, wait: 300 } as const;

it.each([
  { args: '--app policy', want: { ...usual, app: 'policy' } },
  {
    args: '--app all --seed 4294967295 --minutes 60',
    want: { ...usual, app: 'all', seed: 4_294_967_295, minutes: 60 },
  },
  { args: '--app policy --rounds 2 --replicas 1', want: { ...usual, app: 'policy', rounds: 2, replicas: 1 } },
])('reads $args', ({ args, want }) => {
  expect(read(...args.split(' '))).toEqual(want);
});

it.each([
  { args: '--seed 1', message: "required option '--app <name>' not specified" },
  {
    args: '--app cli',
    message: 'Allowed choices are service-mirror, policy, wireguard, wireguard-rotation, wireguard-blocks, all.',
  },
  { args: '--app policy --seed x', message: 'It must be a whole number.' },
  { args: '--app policy --replicas 3', message: 'It must be 1 or 2.' },
  { args: '--app policy --pods', message: "unknown option '--pods'" },
])('refuses $args', ({ args, message }) => {
  expect(() => read(...args.split(' '))).toThrow(message);
});

it.each([
  { of: { ...usual, events: '--seed 5', rounds: 2 }, clusters: 3, want: '--seed 5 --rounds 2' },
  { of: { ...usual, events: '--script x.json' }, clusters: 3, want: '--script x.json' },
  {
    of: { ...usual, events: '--seed 5', rounds: 2, replicas: 1, wait: 60 } as const,
    clusters: 5,
    want: '--seed 5 --rounds 2 --replicas 1 --wait 60',
  },
])('repeats $want', ({ of, clusters, want }) => {
  const command = againCommand({ ...of, app: 'policy' }, clusters);
  expect(command).toBe(`${clusters === 3 ? '' : 'CHAOS_CLUSTERS=5 '}npm run chaos -- --app policy ${want}`);
});
