import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import type { RemoteStatus } from '../clusters/app-status.ts';
import type { AppPod, ClusterReport } from '../clusters/report.ts';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { checks } from './checks.ts';
import { resultsOf } from './page.ts';

const peer = (node: string, publicKey: string): NonNullable<RemoteStatus['peers']>[number] => ({
  node,
  publicKey,
  state: 'up',
  endpoint: '192.0.2.1:51820',
});

/** A cluster that reads another one, and is fine. Its node is `n-c1`, with the key `key-c1`. */
function cluster(name: string, remote: string): { cluster: string; pods: (AppPod & { status: object })[] } {
  const tunnel = remoteStatus({
    name: remote,
    config: { podSubnets: ['10.4.0.0/16'] },
    deviceName: `wireguard.${remote}`,
    device: { publicKey: `key-${name}`, marked: true },
    peers: [peer(`n-${remote}`, `key-${remote}`)],
    missing: [],
  });
  return {
    cluster: name,
    pods: [
      appPod({ app: 'semaphore-policy', name: 'policy-0', remotes: [remoteStatus({ name: remote })] }),
      appPod({ app: 'semaphore-policy', name: 'policy-1', leader: false, remotes: [remoteStatus({ name: remote })] }),
      appPod({ app: 'semaphore-service-mirror', remotes: [remoteStatus({ name: remote, stale: false })] }),
      appPod({ app: 'semaphore-wireguard', node: `n-${name}`, config: { name }, remotes: [tunnel] }),
    ],
  };
}

const [POLICY, STANDBY, MIRROR, AGENT] = [0, 1, 2, 3] as const;

/** Two clusters that are fine, after a change of a Pod of the first. */
function broken(pod: number, change: object, status: object = {}, remote: object = {}): readonly ClusterReport[] {
  const [c1, c2] = [cluster('c1', 'c2'), cluster('c2', 'c1')];
  const before = c1.pods[pod]!;
  const [first, ...others] = (before.status as { remotes: RemoteStatus[] }).remotes;
  const remotes = [{ ...first, ...remote }, ...others];
  const after = { ...before, status: { ...before.status, remotes, ...status }, ...change } as AppPod;
  return [{ ...c1, pods: c1.pods.with(pod, after as (typeof c1.pods)[number]) }, c2];
}

const remote = (pod: number, change: object) => broken(pod, {}, {}, change);
const [c1, c2] = [cluster('c1', 'c2'), cluster('c2', 'c1')];
const lastError = { time: '2026-01-01T00:00:00.000Z', message: 'refused' };
const third = remoteStatus({ name: 'c3', config: { allowedPodCIDRs: ['10.4.7.0/24'] } });

const failing = (reports: readonly ClusterReport[]) =>
  resultsOf(checks, reports).flatMap(({ name, findings }) => findings.map(({ severity }) => `${severity} ${name}`));

describe('the checks', () => {
  it('find nothing in clusters that are fine, and skip none', () => {
    expect(resultsOf(checks, [c1, c2]).filter(({ result }) => result !== 'ok')).toEqual([]);
  });

  it.each([
    { reports: [c1, { cluster: 'c2', failure: 'c2: not reached', pods: [] }], want: ['problem clusters-reached'] },
    { reports: [c1, { cluster: 'c2', pods: [] }], want: ['problem apps-found'] },
    { reports: broken(POLICY, { ready: false }), want: ['problem pods-ready'] },
    { reports: broken(STANDBY, { status: { failure: '503' } }), want: ['problem status-served'] },
    { reports: broken(MIRROR, {}, { version: '0.2.0' }), want: ['warning same-version'] },
    { reports: broken(POLICY, {}, { leader: false }), want: ['problem one-leader'] },
    { reports: broken(STANDBY, {}, { leader: true }), want: ['problem one-leader'] },
    { reports: broken(AGENT, {}, { local: { up: false, synced: true, lastError } }), want: ['problem local-reached'] },
    { reports: broken(AGENT, {}, { local: { up: true, synced: false, lastError } }), want: ['problem local-reached'] },
    { reports: remote(POLICY, { up: false, lastError }), want: ['problem remotes-reached'] },
    { reports: remote(POLICY, { synced: false, objects: null }), want: ['problem remotes-synced'] },
    { reports: remote(MIRROR, { stale: true }), want: ['problem not-stale'] },
    { reports: remote(POLICY, { heldDeletions: 12 }), want: ['warning nothing-held'] },
    {
      reports: remote(POLICY, { skipped: [{ kind: 'problem', reason: 'bad-address', count: 2 }] }),
      want: ['warning nothing-skipped'],
    },
    { reports: remote(POLICY, { skipped: [{ kind: 'expected', reason: 'finished', count: 2 }] }), want: [] },
    { reports: remote(MIRROR, { config: { allowedPodCIDRs: null } }), want: ['warning addresses-restricted'] },
    {
      reports: broken(POLICY, {}, { remotes: [remoteStatus(), third] }),
      want: ['problem ranges-distinct'],
    },
    { reports: remote(AGENT, { device: null }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { device: { publicKey: 'key-c1', marked: false } }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { deviceError: 'no wg' }), want: ['problem devices-set-up'] },
    { reports: remote(AGENT, { missing: ['n-c2'] }), want: ['problem peers-complete'] },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), state: 'stale' }] }),
      want: ['problem handshakes'],
    },
    {
      reports: remote(AGENT, { peers: [{ ...peer('n-c2', 'key-c2'), state: 'never' }] }),
      want: ['problem handshakes'],
    },
    { reports: remote(AGENT, { name: 'c9', peers: [] }), want: ['problem both-ways'] },
    { reports: remote(AGENT, { peers: [peer('n-c2', 'key-old')] }), want: ['problem keys-agree'] },
  ])('find exactly $want', ({ reports, want }) => {
    expect(failing(reports)).toEqual(want);
  });

  it('skip what is not there, such as tunnels', () => {
    const pods = c1.pods.slice(POLICY, MIRROR);
    const skipped = resultsOf(checks, [{ cluster: 'c1', pods }]).filter(({ result }) => result === 'skipped');
    expect(skipped.map(({ name }) => name)).toEqual([
      'not-stale',
      'devices-set-up',
      'peers-complete',
      'handshakes',
      'both-ways',
      'keys-agree',
    ]);
  });

  it('are the headings of docs/check.md, in their order', () => {
    const headings = Array.from(docPage('check.md').matchAll(/^## (.*)$/gm), ([, heading]) => heading);
    expect(headings).toEqual(checks.map(({ name }) => name));
  });
});
