import { describe, expect, it } from 'vitest';
import { leaderElectionProblems, leaderElectionRows } from './leader-election.ts';
import { resolveOptions } from '../resolve.ts';
import { optionTable } from '../table.ts';

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };
const table = optionTable({ prefix: 'SP' }, leaderElectionRows('semaphore-policy-<cluster>'));

const resolve = (...argv: string[]) =>
  resolveOptions(table, { program, argv, env: {}, validate: (_, config) => leaderElectionProblems(table, config) });

describe('leaderElectionRows', () => {
  it('have the documented defaults', async () => {
    expect(await resolve()).toMatchObject({
      config: {
        leaderElect: false,
        leaseName: undefined,
        leaseNamespace: undefined,
        previousLeaseNamespace: undefined,
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2_000,
      },
    });
  });

  it.each([
    { name: 'a fraction of a second', value: '1.5s', want: '"1.5s" is not a whole number of seconds' },
    { name: 'nothing', value: '0', want: '"0" is less than 1s' },
    { name: 'hours', value: '2h', want: '"2h" is more than 1h' },
  ])('refuses a lease duration of $name', async ({ value, want }) => {
    const { stderr } = (await resolve('-lease-duration', value)) as { stderr: string };
    expect(stderr).toContain(`-lease-duration (SP_LEASE_DURATION): ${want}`);
  });
});

describe('leaderElectionProblems', () => {
  const sound = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

  it.each([
    { name: 'accepts the defaults', config: {}, want: [] },
    { name: 'accepts a deadline just before the end', config: { renewDeadlineMs: 14_999 }, want: [] },
    {
      name: 'refuses a leader that writes until others take over',
      config: { renewDeadlineMs: 15_000 },
      want: ['-renew-deadline or SP_RENEW_DEADLINE: 15s is not less than 15s, the lease duration'],
    },
    {
      name: 'refuses a deadline that no renewal comes before',
      config: { retryPeriodMs: 8_500 },
      want: ['-renew-deadline or SP_RENEW_DEADLINE: 10s is not more than 1.2 times 8.5s, the retry period'],
    },
    {
      name: 'names both problems',
      config: { leaseDurationMs: 5_000, retryPeriodMs: 10_000 },
      want: [expect.stringContaining('the lease duration'), expect.stringContaining('the retry period')],
    },
    { name: 'is silent about a duration that could not be read', config: { leaseDurationMs: undefined }, want: [] },
    { name: 'is silent without a deadline', config: { renewDeadlineMs: undefined }, want: [] },
  ])('$name', ({ config, want }) => {
    const given = Object.entries({ ...sound, ...config }).filter(([, value]) => value !== undefined);
    expect(leaderElectionProblems(table, Object.fromEntries(given))).toEqual(want);
  });
});
