import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { resultsOf } from '../check/page.ts';
import { checks } from '../check/checks.ts';
import type { Reading } from '../check/facts/facts.ts';
import { problemsIn } from '../status/page.ts';
import type { ClusterReport } from './report.ts';

const since = (second: number): string => new Date(second * 1_000).toISOString();
const refused = { time: since(9), message: 'refused' };
const late = { time: since(9), message: 'timeout' };
const down = (name: string, at = 5, lastError = refused) =>
  remoteStatus({ name, up: false, synced: false, stale: true, since: since(at), lastError });

const cluster = (name: string, ...pods: ClusterReport['pods']): ClusterReport => ({ cluster: name, pods });
const policy = (...remotes: ReturnType<typeof remoteStatus>[]) => appPod({ app: 'semaphore-policy', remotes });
const mirror = (...remotes: ReturnType<typeof remoteStatus>[]) => appPod({ app: 'semaphore-service-mirror', remotes });

describe('problems are one sentence for each cause, the worst first', () => {
  it.each<{ name: string; reports: readonly ClusterReport[]; want: readonly string[] }>([
    {
      name: 'a cluster that two apps of three others do not reach, before one that a single app does not',
      reports: [
        cluster('c1', policy(down('c4'), down('c5')), mirror(down('c4'))),
        cluster('c2', policy(down('c4', 3, late)), mirror(down('c4'))),
        cluster('c3', policy(down('c4')), mirror(down('c4'))),
      ],
      want: [
        `c4 is not reached: from c1, c2, c3 (policy, service-mirror), since ${since(3)}: refused; timeout`,
        `c5 is not reached: from c1 (policy), since ${since(5)}: refused`,
      ],
    },
    {
      name: 'other apps of other clusters',
      reports: [cluster('c1', policy(down('c4')), mirror()), cluster('c2', mirror(down('c4')))],
      want: [`c4 is not reached: from c1 (policy), c2 (service-mirror), since ${since(5)}: refused`],
    },
    {
      name: 'the Pods, if not all of an app see it',
      reports: [cluster('c1', policy(remoteStatus()), { ...policy(down('c2')), name: 'policy-1' })],
      want: [`c2 is not reached: from c1 (policy in kube-system/policy-1), since ${since(5)}: refused`],
    },
    {
      name: 'a few of many clusters',
      reports: ['c1', 'c2', 'c3', 'c4', 'c5'].map((name) => cluster(name, policy(down('c9')))),
      want: [`c9 is not reached: from c1, c2, c3 and 2 more (policy), since ${since(5)}: refused`],
    },
    {
      name: 'what is not reached before what is not listed, and that before what is stale',
      reports: [
        cluster(
          'c1',
          mirror(remoteStatus({ name: 'c2', stale: true }), remoteStatus({ name: 'c3', synced: false }), down('c4')),
        ),
      ],
      want: [
        `c4 is not reached: from c1 (service-mirror), since ${since(5)}: refused`,
        'c3 is not listed yet: in c1 (service-mirror)',
        'c2 is stale in global Services: in c1 (service-mirror)',
      ],
    },
    {
      name: 'one right that is missing, and another error',
      reports: [
        cluster(
          'c1',
          { ...policy(), status: { failure: 'forbidden' } },
          { ...mirror(), status: { failure: 'forbidden' } },
          { ...appPod({ app: 'semaphore-wireguard' }), status: { failure: 'away' } },
        ),
      ],
      want: [
        "Pods don't report their status: in c1 (policy, service-mirror): forbidden",
        "Pods don't report their status: in c1 (wireguard): away",
      ],
    },
  ])('$name', ({ reports, want }) => {
    expect(problemsIn(reports)).toEqual(want);
  });

  it('in check, too', () => {
    const unknown = { known: false, why: 'not read' } as const;
    const facts = new Proxy({}, { get: (_, fact) => (fact === 'masqueraders' ? { found: [], unknown: [] } : unknown) });
    const readings = ['c1', 'c2'].map(
      (name) => ({ ...cluster(name, policy(down('c4')), mirror(down('c4'))), facts }) as unknown as Reading,
    );
    const { findings } = resultsOf(checks, readings).find(({ name }) => name === 'remotes-reached')!;
    expect(findings.map(({ detail }) => detail)).toEqual(problemsIn(readings));
  });
});
