import { createHash } from 'node:crypto';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithPolicy as it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

/** The suffix that distinguishes two sets of one name, as documented. */
const hash = (namespace: string, app: string) =>
  createHash('sha256').update(`c2/${namespace}/${app}`).digest('hex').slice(0, 10);

describe('of two workloads with one name', () => {
  const first = { name: 'first', namespace: 'a', app: 'b-c', ips: ['10.4.0.1'] };
  const second = { name: 'second', namespace: 'a-b', app: 'c', ips: ['10.4.0.2'] };
  const suffixed = `c2-a-b-c-${hash('a-b', 'c')}`;

  it.for([
    { order: 'in order', pair: [first, second] },
    { order: 'in the other order', pair: [second, first] },
  ])(
    'that come $order, the smaller gets it (Go put both into one set)',
    async ({ pair: [one, other] }, { pods, sets, history }) => {
      await pods.add(one!);
      await eventually(async () => (await sets.list()).length, 1);
      await pods.add(other!);
      await sets.become({ 'c2-a-b-c': ['10.4.0.1/32'], [suffixed]: ['10.4.0.2/32'] });
      expect((await sets.list()).map(({ labels }) => labels)).toEqual([
        labelsOf('b-c', { namespace: 'a' }),
        labelsOf('c', { namespace: 'a-b' }),
      ]);
      await history.caughtUp();
      expect(history.gaps('b-c', ['10.4.0.1/32'], 'a')).toEqual([]);
      expect(history.gaps('c', ['10.4.0.2/32'], 'a-b')).toEqual([]);
    },
  );

  it('the other gets it when the first is gone', async ({ pods, sets, history }) => {
    await pods.add(first, second);
    await sets.become({ 'c2-a-b-c': ['10.4.0.1/32'], [suffixed]: ['10.4.0.2/32'] });
    await pods.remove('a/first');
    await sets.become({ 'c2-a-b-c': ['10.4.0.2/32'] });
    expect((await sets.get('c2-a-b-c')).metadata.labels).toEqual(labelsOf('c', { namespace: 'a-b' }));
    await history.caughtUp();
    expect(history.gaps('c', ['10.4.0.2/32'], 'a-b')).toEqual([]);
  });
});

describe('a name of an object that is not ours', () => {
  const theirs = { name: 'c2-default-app', labels: { team: 'net' }, nets: ['192.0.2.0/24'] };
  const suffixed = `c2-default-app-${hash('default', 'app')}`;
  const taken = ['semaphore_policy_skipped_objects', { remote: 'c2', kind: 'problem', reason: 'name-taken' }] as const;

  it('is taken, and the object stays as it is (Go overwrote it)', async ({ policy, pods, sets }) => {
    await sets.add(theirs);
    const before = await sets.get(theirs.name);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': theirs.nets, [suffixed]: ['10.4.0.1/32'] });
    await pods.remove('a');
    await sets.become({ 'c2-default-app': theirs.nets });
    expect(await sets.get(theirs.name)).toEqual(before);
    await policy.logged('skipped', { level: 'warn', reason: 'name-taken' });
  });

  it('becomes ours when the object goes', async ({ policy, pods, sets, history }) => {
    await sets.add(theirs);
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': theirs.nets, [suffixed]: ['10.4.0.1/32'] });
    expect(await policy.metric(...taken)).toBe(1);
    await sets.remove(theirs.name);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.gaps('app', ['10.4.0.1/32'])).toEqual([]);
    await eventually(() => policy.metric(...taken), 0);
  });

  it('stays with an object that was ours', async ({ pods, sets }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    // How a user takes a set over: managed-by isn't restored.
    await sets.patch('c2-default-app', { metadata: { labels: { 'managed-by': 'somebody' } } });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'], [suffixed]: ['10.4.0.1/32'] });
    expect((await sets.get('c2-default-app')).metadata.labels).toEqual({
      ...labelsOf('app'),
      'managed-by': 'somebody',
    });
  });
});

describe('a name that the process of another remote also wants', () => {
  it('goes to one of them, without a fight', async ({ policy, pods, sets, history, start }) => {
    await pods.add(
      { name: 'ours', namespace: 'x-y', app: 'z', ips: ['10.4.0.1'] },
      { name: 'theirs', namespace: 'y', app: 'z', ips: ['10.4.0.2'] },
    );
    await start({ 'target-cluster-name': 'c2-x' });
    const owners = async () =>
      (await sets.list())
        .map(({ labels, nets }) => [labels['semaphore.uw.systems/cluster'], ...nets].join(' '))
        .toSorted();
    const expected = ['c2 10.4.0.1/32', 'c2 10.4.0.2/32', 'c2-x 10.4.0.1/32', 'c2-x 10.4.0.2/32'];
    await eventually(owners, expected);
    await history.caughtUp();
    const written = history.versions();

    await pods.add({ name: 'later', namespace: 'y', app: 'later', ips: ['10.4.0.3'] });
    await eventually(async () => (await sets.list()).length, 6);
    await history.caughtUp();
    expect(history.versions()).toBe(written + 2);
    expect(history.deletions()).toEqual([]);
    await eventually(() => policy.metric('semaphore_policy_orphans', { cluster: 'c2-x' }), 3);
  });
});

describe('a label value that is not a valid name', () => {
  it('gets a valid name of its own (Go tried to create it for ever)', async ({ pods, sets }) => {
    await pods.add({ name: 'a', app: 'My_App', ips: ['10.4.0.1'] }, { name: 'b', app: 'my-app', ips: ['10.4.0.2'] });
    const name = `c2-default-my-app-${hash('default', 'My_App')}`;
    await sets.become({ 'c2-default-my-app': ['10.4.0.2/32'], [name]: ['10.4.0.1/32'] });
    expect((await sets.get(name)).metadata.labels).toEqual(labelsOf('My_App'));
  });

  it('gets a name even if it is empty', async ({ pods, sets }) => {
    await pods.add({ name: 'a', app: '', ips: ['10.4.0.1'] });
    const name = `c2-default-${hash('default', '')}`;
    await sets.become({ [name]: ['10.4.0.1/32'] });
    expect((await sets.get(name)).metadata.labels).toEqual(labelsOf(''));
  });
});
