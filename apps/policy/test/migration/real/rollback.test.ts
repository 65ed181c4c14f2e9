// Real: kubectl runs the commands that users copy.
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, docPage, goesWithoutKubectl } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { type GoRelease, goReleases } from '../../support/go-releases.ts';
import { it } from '../../support/migration.ts';
import type { LabelledPod } from '../../support/pods.ts';
import { labelsOf, type SetView } from '../../support/sets.ts';

const [variables = '', commands = ''] = docBlocks('migration.md', 'The way back of policy');

/** A workload of three shards, and one that has an address of each family, of which a Go program knows the first. */
const known: readonly LabelledPod[] = [
  ...[1, 2, 3, 4, 5].map((n) => ({ name: `app-${n}`, app: 'app', ips: [`10.4.0.${n}`] })),
  { name: 'web-1', namespace: 'shop', app: 'web', ips: ['10.4.1.1', 'fd00::1'] },
];
/** Two with one name, one without a valid name, and one whose name another object has. */
const suffixed: readonly LabelledPod[] = [
  { name: 'first', namespace: 'a', app: 'b-c', ips: ['10.4.2.1'] },
  { name: 'second', namespace: 'a-b', app: 'c', ips: ['10.4.2.2'] },
  { name: 'my-app', app: 'My_App', ips: ['10.4.3.1'] },
  { name: 'theirs', app: 'theirs', ips: ['10.4.4.1'] },
];
const theirs = { name: 'c2-default-theirs', labels: { team: 'net' }, nets: ['192.0.2.0/24'] };
/** Goes while no program runs. */
const leaving: LabelledPod = { name: 'leaving', app: 'leaving', ips: ['10.4.5.1'] };

/** Sets without the order of their nets. */
const unordered = (sets: readonly SetView[]) => sets.map((set) => ({ ...set, nets: set.nets.toSorted() }));

type Labels = Pick<GoRelease, 'domain' | 'managedBy'>;

/** The first block with the values of a test in it. */
function variablesOf(ours: Labels, go: GoRelease): string {
  return [
    `sets=globalnetworksets.${go.group}`,
    'cluster=c2',
    `domain=${ours.domain}`,
    `managed_by=${ours.managedBy}`,
    `go_domain=${go.domain}`,
    `go_managed_by=${go.managedBy}`,
  ].join('\n');
}

describe.skipIf(goesWithoutKubectl)('the commands of docs/migration.md', () => {
  const [first, second] = goReleases as [GoRelease, GoRelease];
  const others = { domain: 'policy.semaphore.uw.io', managedBy: 'semaphore-policy' };

  it.for<{ name: string; go: GoRelease; ours: Labels; block: string }>([
    { name: 'as they stand', go: first, ours: first, block: variables },
    ...goReleases.map((go) => ({ name: `to ${go.name}`, go, ours: go, block: variablesOf(go, go) })),
    { name: `to ${second.name} from other labels`, go: second, ours: others, block: variablesOf(others, second) },
  ])(
    'lead back, $name, without a gap for addresses that Go knows',
    async ({ go, ours, block }, { local, pods, serveCalicoApi, witness, goProgram, commandLine, startWith }) => {
      if (go.group === 'projectcalico.org') await serveCalicoApi();
      const { sets, history } = await witness(go.group);
      const domain = [...new Set([go.domain, ours.domain])];
      await sets.add(theirs);
      await pods.add(...[...known, ...suffixed, leaving].map((pod) => ({ ...pod, domain })));
      const { env } = await commandLine(go);
      const identity = [`-label-domain=${ours.domain}`, `-managed-by=${ours.managedBy}`];
      const policy = await startWith(['-max-nets-per-set=2', ...identity], { env });
      await eventually(async () => (await sets.list()).length, 10);
      await policy.stop();
      await pods.remove('leaving');

      const { stderr } = await bash(`${block}\n${commands}`, local);
      expect(stderr.match(/c2-default-my-app-\S+|c2-default-theirs-\S+/g)).toHaveLength(2);
      await history.caughtUp();
      expect(history.deletions()).toEqual([]);
      expect((await sets.list()).find(({ name }) => name === theirs.name)).toEqual(theirs);

      await (await goProgram(go)).start();
      const after = unordered(await sets.list());
      await history.caughtUp();
      const addresses = ['10.4.0.1/32', '10.4.0.2/32', '10.4.0.3/32', '10.4.0.4/32', '10.4.0.5/32'];
      expect(history.gaps('app', addresses)).toEqual([]);
      expect(history.gaps('web', ['10.4.1.1/32'], 'shop')).toEqual([]);
      expect(history.gapsInAll(['10.4.2.1/32', '10.4.2.2/32'])).toEqual([]);

      await sets.clear();
      await sets.add(theirs);
      await (await goProgram(go)).start();
      expect(after).toEqual(unordered(await sets.list()));
      expect(after.map(({ name }) => name)).toEqual(['c2-a-b-c', 'c2-default-app', 'c2-default-theirs', 'c2-shop-web']);
      expect(after[1]).toEqual({ name: 'c2-default-app', labels: labelsOf('app', go), nets: addresses });
    },
  );

  it('can be followed by one that keeps a set without a name in Go', async ({
    local,
    pods,
    witness,
    goProgram,
    start,
  }) => {
    const [, keep = ''] = /`(kubectl label "\$sets" NAME managed-by-)`/.exec(docPage('migration.md')) ?? [];
    const { sets, history } = await witness('crd.projectcalico.org');
    await pods.add(...known, ...suffixed);
    const policy = await start({ 'calico-api': 'crd.projectcalico.org/v1' });
    await eventually(async () => (await sets.list()).length, 6);
    await policy.stop();
    const { name = '' } = (await sets.list()).find(({ labels }) => labels[`${first.domain}/name`] === 'My_App') ?? {};
    await bash([variables, commands, keep.replace('NAME', name)].join('\n'), local);
    await (await goProgram(first)).start();
    await history.caughtUp();
    expect(history.deletions()).not.toContain(name);
    expect(history.gaps('My_App', ['10.4.3.1/32'])).toEqual([]);
  });
});
