import { createHash } from 'node:crypto';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itBehindProxies as it } from './support/it.ts';
import { labelsOf, type SetView } from './support/sets.ts';

const MAX = 10;
const hash = createHash('sha256').update('c2/default/app').digest('hex').slice(0, 10);

/** Pods of both families, numbered. */
const podsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => {
    const number = from + i;
    return {
      name: `app-${number}`,
      app: 'app',
      ips: [`10.4.${number >> 8}.${number & 255}`, `fd00::${(number + 1).toString(16)}`],
    };
  });

const netsOf = (pods: ReturnType<typeof podsOf>) =>
  pods.flatMap(({ ips: [four, six] }) => [`${four}/32`, `${six}/128`]);

const namesOf = (pods: ReturnType<typeof podsOf>) => pods.map(({ name }) => name);

/** The nets of all shards, sorted as texts. */
const netsIn = (sets: readonly SetView[]) => sets.flatMap(({ nets }) => nets).toSorted();

describe('a set of more than -max-nets-per-set addresses', () => {
  it('is split into shards (Go wrote one object of any size)', async ({ pods, sets, history, start }) => {
    const all = podsOf(0, 115);
    await start({ 'max-nets-per-set': MAX });
    await pods.add(...all);
    await eventually(async () => netsIn(await sets.list()), netsOf(all).toSorted());

    const shards = await sets.list();
    const expected = ['c2-default-app', ...Array.from({ length: 22 }, (_, n) => `c2-default-app-${hash}-s${n + 1}`)];
    expect(shards.map(({ name }) => name)).toEqual(expected.toSorted());
    for (const { labels } of shards) expect(labels).toEqual(labelsOf('app'));
    await history.caughtUp();
    expect(history.largest()).toBe(MAX);
    expect(history.gaps('app', netsOf(all))).toEqual([]);
  });

  it('keeps each address in its shard while others come and go', async ({ pods, sets, history, start }) => {
    const all = podsOf(0, 15);
    await start({ 'max-nets-per-set': MAX });
    await pods.add(...all);
    await eventually(async () => netsIn(await sets.list()), netsOf(all).toSorted());
    const before = await sets.list();
    await history.caughtUp();
    const written = history.versions();

    await pods.remove('app-7');
    const rest = all.filter(({ name }) => name !== 'app-7');
    await eventually(async () => netsIn(await sets.list()), netsOf(rest).toSorted());
    const gone = netsOf(all.slice(7, 8));
    expect(await sets.list()).toEqual(
      before.map((set) => ({ ...set, nets: set.nets.filter((net) => !gone.includes(net)) })),
    );
    await history.caughtUp();
    // The two addresses are in one shard or in two.
    expect(history.versions() - written).toBe(
      before.filter(({ nets }) => nets.some((net) => gone.includes(net))).length,
    );
  });

  it('loses what goes while another shard is refused, and nothing else', async ({
    localProxy,
    viaLocalProxy,
    pods,
    sets,
    history,
    start,
  }) => {
    const [before, more] = [podsOf(0, 10), podsOf(10, 20)];
    await pods.add(...before);
    const policy = await start({ ...viaLocalProxy, 'max-nets-per-set': MAX });
    await eventually(async () => netsIn(await sets.list()), netsOf(before).toSorted());
    const allow = await localProxy.set(
      { kind: 'answer', status: 403 },
      { method: 'POST', target: /globalnetworksets/ },
    );
    await pods.add(...more);
    await policy.logged('set not written, retrying');
    await pods.remove('app-0');
    const gone = netsOf(before.slice(0, 1));
    await eventually(async () => netsIn(await sets.list()).filter((net) => gone.includes(net)), []);
    await allow();
    const staying = [...before.slice(1), ...more];
    await eventually(async () => netsIn(await sets.list()), netsOf(staying).toSorted());
    await history.caughtUp();
    expect(history.gaps('app', netsOf(before.slice(1)))).toEqual([]);
  });

  it('shrinks when the rest would be 80 % full, and adds first', async ({ pods, sets, history, start }) => {
    const all = podsOf(0, 25);
    await start({ 'max-nets-per-set': MAX });
    await pods.add(...all);
    await eventually(async () => netsIn(await sets.list()), netsOf(all).toSorted());
    expect(await sets.list()).toHaveLength(5);

    // 16 addresses fill two shards to 80 %.
    const [staying, leaving] = [all.slice(17), all.slice(0, 17)];
    await pods.remove(...namesOf(leaving));
    await eventually(async () => netsIn(await sets.list()), netsOf(staying).toSorted());
    await eventually(async () => (await sets.list()).length, 2);
    await history.caughtUp();
    expect(history.gaps('app', netsOf(staying))).toEqual([]);
    expect(history.largest()).toBe(MAX);
  });

  it('is one object again under its plain name when it fits', async ({ pods, sets, history, start }) => {
    const all = podsOf(0, 8);
    await start({ 'max-nets-per-set': MAX });
    await pods.add(...all);
    await eventually(async () => netsIn(await sets.list()), netsOf(all).toSorted());
    expect(await sets.list()).toHaveLength(2);
    await pods.remove(...namesOf(all.slice(0, 4)));
    const staying = netsOf(all.slice(4));
    await eventually(
      async () => (await sets.list()).map(({ name, nets }) => [name, nets.toSorted()]),
      [['c2-default-app', staying.toSorted()]],
    );
    await history.caughtUp();
    expect(history.gaps('app', staying)).toEqual([]);
  });
});

describe('another -max-nets-per-set', () => {
  it.for([
    { name: 'a lower one splits', before: 1_000, after: MAX, shards: [1, 4] as const },
    { name: 'a higher one joins', before: MAX, after: 1_000, shards: [4, 1] as const },
  ])(
    '$name what is there, and adds before it removes',
    async ({ before, after, shards }, { pods, sets, history, start }) => {
      const all = podsOf(0, 20);
      await pods.add(...all);
      const first = await start({ 'max-nets-per-set': before });
      await eventually(async () => [(await sets.list()).length, netsIn(await sets.list()).length], [shards[0], 40]);
      await first.stop();
      await start({ 'max-nets-per-set': after });
      await eventually(async () => [(await sets.list()).length, netsIn(await sets.list()).length], [shards[1], 40]);
      await history.caughtUp();
      expect(history.gaps('app', netsOf(all))).toEqual([]);
    },
  );

  it('survives a crash after any write', async ({ localProxy, viaLocalProxy, pods, sets, history, start }) => {
    const all = podsOf(0, 20);
    await pods.add(...all);
    const whole = await start();
    await eventually(async () => netsIn(await sets.list()).length, 40);
    await whole.stop();
    // Three creates, then one update: each process does one of them.
    for (let crashes = 0; crashes < 3; crashes++) {
      const undo = await localProxy.set({ kind: 'stall' }, { method: 'POST', every: 2 });
      const crashing = await start({ ...viaLocalProxy, 'max-nets-per-set': MAX, 'write-concurrency': 1 });
      await eventually(() => localProxy.requests().filter(({ method }) => method !== 'GET').length, 2 * (crashes + 1));
      expect(await sets.list()).toHaveLength(2 + crashes);
      await crashing.stop('SIGKILL');
      // Drops the writes that were on their way.
      await localProxy.set({ kind: 'reset', connections: 'open' });
      await undo();
    }
    await start({ 'max-nets-per-set': MAX });
    await eventually(async () => [(await sets.list()).length, netsIn(await sets.list()).length], [4, 40]);
    await history.caughtUp();
    expect(history.gaps('app', netsOf(all))).toEqual([]);
  });
});
