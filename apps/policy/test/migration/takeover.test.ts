import { createHash } from 'node:crypto';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { type GoRelease, goReleases } from '../support/go-releases.ts';
import { it } from '../support/migration.ts';
import type { LabelledPod } from '../support/pods.ts';
import type { PolicyProcess } from '../support/policy-process.ts';
import { labelsOf } from '../support/sets.ts';

/** The Pods in the remote cluster during the takeover. */
const running = [
  { name: 'app-1', app: 'app', ips: ['10.4.0.1'] },
  { name: 'app-2', app: 'app', ips: ['10.4.0.2'] },
  { name: 'on-node', app: 'app', ips: ['192.168.0.1'], hostNetwork: true },
  { name: 'web-1', namespace: 'shop', app: 'web', ips: ['10.4.1.1'] },
  { name: 'first', namespace: 'a', app: 'b-c', ips: ['10.4.2.1'] },
  { name: 'second', namespace: 'a-b', app: 'c', ips: ['10.4.2.2'] },
] as const satisfies readonly LabelledPod[];

/** The addresses that must be in sets all the time. */
const workloads = [
  { app: 'app', namespace: 'default', ips: ['10.4.0.1/32', '192.168.0.1/32'] },
  { app: 'web', namespace: 'shop', ips: ['10.4.1.1/32'] },
  { app: 'b-c', namespace: 'a', ips: ['10.4.2.1/32'] },
  { app: 'c', namespace: 'a-b', ips: ['10.4.2.2/32'] },
];

/** Pods whose addresses a Go program put into sets, and that are gone. */
const finished: LabelledPod = { name: 'job', app: 'app', ips: ['10.4.0.8'], phase: 'Succeeded' };
const missed: LabelledPod = { name: 'app-9', app: 'app', ips: ['10.4.0.9'] };

const suffixed = `c2-a-b-c-${createHash('sha256').update('c2/a-b/c').digest('hex').slice(0, 10)}`;

/** Sets as a Go program leaves them, and as semaphore-policy makes them. */
const before = {
  'c2-a-b-c': ['10.4.2.2/32', '10.4.2.1/32'],
  'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '10.4.0.9/32', '10.4.0.8/32', '192.168.0.1/32'],
  'c2-shop-web': ['10.4.1.1/32'],
};
const after = {
  'c2-a-b-c': ['10.4.2.1/32'],
  [suffixed]: ['10.4.2.2/32'],
  'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '192.168.0.1/32'],
  'c2-shop-web': ['10.4.1.1/32'],
};

const withDomain = (pods: readonly LabelledPod[], { domain }: GoRelease) => pods.map((pod) => ({ ...pod, domain }));

const warningsOf = (policy: PolicyProcess) =>
  policy
    .log()
    .filter(({ level }) => level === 'warn')
    .map(({ msg, reason }) => (typeof reason === 'string' ? `${msg}: ${reason}` : msg))
    .toSorted();

/** The warnings about a release's command line, role and sets in docs/migration.md, each once. */
function promised({ prefix }: GoRelease): readonly string[] {
  const names = [
    'LOCAL_KUBE_CONFIG',
    'REMOTE_API_URL',
    'REMOTE_CA_URL',
    'REMOTE_SERVICE_ACCOUNT_TOKEN',
    'TARGET_CLUSTER_NAME',
  ];
  const older = prefix === 'KPS' ? names.map((name) => `KPS_${name} is an older spelling: use SP_${name}`) : [];
  return [
    ...older,
    'CA is fetched without encryption; anyone on the network path can replace it',
    'skipped: host-network-kept',
    'watch is forbidden; listing periodically',
    'remote may announce any address: set its allowedPodCIDRs (-allowed-pod-cidrs)',
  ].toSorted();
}

const onCrd = goReleases.filter(({ group }) => group === 'crd.projectcalico.org');
const onV3 = goReleases.filter(({ group }) => group === 'projectcalico.org');

describe('the sets of a Go program', () => {
  // In this order: once Calico's own API is served, it stays.
  it.for([
    ...onCrd.map((release) => ({ release, calicoApi: 'absent' })),
    ...[...onV3, ...onCrd.slice(0, 1)].map((release) => ({ release, calicoApi: 'served' })),
  ])(
    '$release.name are taken over under its role and command line, projectcalico.org/v3 being $calicoApi',
    async ({ release, calicoApi }, { pods, serveCalicoApi, witness, goProgram, commandLine, startWith }) => {
      if (calicoApi === 'served') await serveCalicoApi();
      const { sets, history } = await witness(release.group);
      await pods.add(...withDomain([...running, missed, finished], release));
      await (await goProgram(release)).start();
      await pods.remove('app-9');
      expect(await sets.nets()).toEqual(before);

      const { argv, env } = await commandLine(release);
      const policy = await startWith(argv, { env });
      await sets.become(after);
      expect((await sets.list()).map(({ labels }) => labels)).toEqual([
        labelsOf('b-c', { ...release, namespace: 'a' }),
        labelsOf('c', { ...release, namespace: 'a-b' }),
        labelsOf('app', release),
        labelsOf('web', { ...release, namespace: 'shop' }),
      ]);

      await pods.add(...withDomain([{ name: 'app-3', app: 'app', ips: ['10.4.0.3'] }], release));
      await pods.remove('app-2');
      const followed = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32', '192.168.0.1/32'] };
      await sets.become({ ...after, ...followed });
      await eventually(() => warningsOf(policy), promised(release));

      await history.caughtUp();
      expect(history.deletions()).toEqual([]);
      for (const { app, namespace, ips } of workloads) expect(history.gaps(app, ips, namespace)).toEqual([]);
      expect(history.gapsInAll(workloads.flatMap(({ ips }) => ips))).toEqual([]);
    },
  );

  it('are restored while both programs run, as in a rolling update', async ({
    remote,
    pods,
    witness,
    goProgram,
    start,
  }) => {
    const { sets, history } = await witness('crd.projectcalico.org');
    await pods.add(...running, missed);
    const go = await goProgram(onCrd[0]!);
    await go.start();
    await pods.remove('app-9');
    await start({ 'calico-api': 'crd.projectcalico.org/v1' });
    await sets.become(after);

    const joined = { ...after, 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', '10.4.0.3/32', '192.168.0.1/32'] };
    await pods.add({ name: 'app-3', app: 'app', ips: ['10.4.0.3'] });
    await go.podAdded(await remote.admin.get('/api/v1/namespaces/default/pods/app-3'));
    await sets.become(joined);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    for (const { app, namespace, ips } of workloads) expect(history.gaps(app, ips, namespace)).toEqual([]);
  });

  it("are taken over as Calico's API server stores them, their labels in an annotation", async ({
    pods,
    witness,
    start,
  }) => {
    const { sets, history } = await witness('crd.projectcalico.org');
    const labels = labelsOf('app', { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' });
    const annotations = { 'projectcalico.org/metadata': JSON.stringify({ labels }) };
    await sets.add({ name: 'c2-default-app', labels: {}, annotations, nets: ['10.4.0.1/32', '10.4.0.9/32'] });
    await pods.add({ name: 'app-1', app: 'app', domain: 'policy.semaphore.uw.io', ips: ['10.4.0.1'] });
    await start({ 'calico-api': 'crd.projectcalico.org/v1' });
    await eventually(() => sets.list(), [{ name: 'c2-default-app', labels, nets: ['10.4.0.1/32'] }]);
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
  });
});
