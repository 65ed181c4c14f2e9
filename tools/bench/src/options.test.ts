import { describe, expect, it } from 'vitest';
import { commandLine } from './options.ts';

/** Reads a command line; the errors go to the result, and not to the terminal. */
function read(...args: readonly string[]): object {
  let result = {};
  const action = async (options: object): Promise<void> => {
    result = options;
  };
  const program = commandLine({
    policy: action,
    mirror: action,
    wireGuard: action,
    manyRemotes: action,
    growth: action,
    churn: action,
  });
  for (const command of [program, ...program.commands]) command.configureOutput({ writeOut() {}, writeErr() {} });
  program.parse(args, { from: 'user' });
  return result;
}

describe('commandLine', () => {
  const shared = { encoding: 'auto', repeat: 3, settle: 10, idle: 0 };
  const race = { ...shared, peer: [], changes: 300 };
  const companions = { labelSets: 12_000 };
  it.each([
    { app: 'policy', want: { ...race, ...companions, pods: 10_000, sets: 500, remotes: 1, rollout: 1000 } },
    { app: 'service-mirror', want: { ...race, services: 1000, endpoints: 10, rollout: 100, peerReads: 'endpoints' } },
    { app: 'many-remotes', want: { repeat: 3, settle: 10, remotes: 250, services: 10, changes: 900, rate: 30 } },
    {
      app: 'growth',
      want: {
        app: ['policy', 'companions', 'service-mirror', 'wireguard'],
        settle: 10,
        remotes: [1, 10, 50, 100, 250],
        percent: 100,
        changes: 900,
        rate: 90,
        results: 'dist/growth.json',
        pictures: 'docs/pictures',
      },
    },
    { app: 'churn', want: { app: ['policy', 'service-mirror', 'wireguard'], rounds: 120, period: 30, rate: 20 } },
    { app: 'wireguard', want: { ...shared, nodes: 1000, changes: 20, scrapes: 5 } },
  ])('has a default for everything of $app', ({ app, want }) => {
    expect(read(app)).toEqual(want);
  });

  it('has the sizes of the targets for NetworkPolicies, or others', () => {
    expect(read('policy', '--network-policies')).toMatchObject({ pods: 50_000, sets: 1000 });
    expect(read('policy', '--network-policies', '--pods', '100')).toMatchObject({ pods: 100, sets: 1000 });
  });

  it('accepts any number of peers', () => {
    expect(read('policy', '--peer', 'a {local}', '--peer', 'b')).toMatchObject({ peer: ['a {local}', 'b'] });
  });

  it.each([
    { args: 'policies', message: "unknown command 'policies'" },
    { args: 'policy --pods many', message: 'It must be a whole number from 2 to 999999999.' },
    { args: 'policy --sets 0', message: 'It must be a whole number from 1' },
    { args: 'policy --remotes 6', message: 'from 1 to 5' },
    { args: 'policy --network-policies --peer x', message: 'cannot be used with' },
    { args: 'policy --network-policies --remotes 2', message: 'cannot be used with' },
    { args: 'policy --remotes 2 --peer x', message: 'cannot be used with' },
    { args: 'policy --services 1', message: "unknown option '--services'" },
    { args: 'growth --remotes 1,251', message: 'It must be a whole number from 1 to 250.' },
    { args: 'growth --remotes 1,,2', message: 'It must be a whole number from 1 to 250.' },
    { args: 'growth --app demo', message: 'Allowed choices are policy, companions, service-mirror, wireguard' },
    { args: 'wireguard --nodes 16385', message: 'from 1 to 16384' },
    { args: 'wireguard --peer x', message: "unknown option '--peer'" },
  ])('refuses $args', ({ args, message }) => {
    expect(() => read(...args.split(' '))).toThrow(message);
  });
});
