import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { UsageError } from '../usage-error.ts';
import { meshOf, mirrorOf } from './mirror.ts';

const app = 'semaphore-service-mirror' as const;
const config = { name: 'c1', mirrorNamespace: 'sys-semaphore', mcs: null };
const drain = { cluster: 'c3', since: null, by: 'jane', reason: null };
const remotes = [remoteStatus(), remoteStatus({ name: 'c3' })];
const reportOf = (more: Partial<Parameters<typeof appPod>[0]> = {}) => ({
  cluster: 'context-1',
  pods: [
    appPod({ app, config, remotes, drains: [drain], ...more }),
    appPod({ app: 'semaphore-policy', remotes: [remoteStatus({ name: 'c9' })] }),
  ],
});

describe('mirrorOf', () => {
  it.each(['c1', 'c2'])('has what says how to drain %s', (cluster) => {
    const report = reportOf();
    expect(mirrorOf(report, { cluster, isDrain: true })).toEqual({
      own: 'c1',
      pods: [report.pods[0]],
      namespaces: ['sys-semaphore'],
      hasImports: false,
      drained: new Set(['c3']),
      drain: undefined,
    });
  });

  it('ends the drain of a cluster that left the config, too', () => {
    const report = reportOf({ remotes: [remoteStatus()] });
    expect(mirrorOf(report, { cluster: 'c3', isDrain: false })).toMatchObject({ drain });
    expect(() => mirrorOf(report, { cluster: 'c3', isDrain: true })).toThrow(UsageError);
  });

  it.each([
    { name: 'an older version', more: { drains: undefined }, want: "can't drain clusters: upgrade it" },
    { name: 'a missing right', more: { drains: null }, want: 'apply its manifests' },
  ])('refuses $name', ({ more, want }) => {
    expect(() => mirrorOf(reportOf(more), { cluster: 'c2', isDrain: true })).toThrow(want);
  });

  it('refuses a cluster that it does not know, or that says nothing', () => {
    const want = 'context-1: semaphore-service-mirror has no cluster "c9": it has c1, c2, c3';
    expect(() => mirrorOf(reportOf(), { cluster: 'c9', isDrain: true })).toThrow(want);
    const silent = { cluster: 'c1', pods: [] };
    expect(() => mirrorOf(silent, { cluster: 'c2', isDrain: true })).toThrow('no Pod of semaphore-service-mirror');
  });
});

it('the mesh is all that semaphore-service-mirror names', () => {
  expect(meshOf([reportOf()])).toEqual(['c1', 'c2', 'c3']);
});
