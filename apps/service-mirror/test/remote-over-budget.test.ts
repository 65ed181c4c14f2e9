import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithTwoRemotes as it } from './support/remotes.ts';

const overBudget = 'semaphore_service_mirror_remote_over_budget';
const left = { remote: 'c2', kind: 'problem', reason: 'over-budget' };
const over = { remote: 'c2', budget: 'services' };
/** Of a Service that is global, and not mirrored. */
const labels = { global: 'true', mirror: 'false' };
const nameOf = (prefix: string, name: string): string => `${prefix}-default-73736d-${name}`;

describe('a remote with more Services than its limit', () => {
  it('has its first Services mirrored, and another when one is deleted', async ({ sources, mirrors, start }) => {
    await sources.add({ name: 'a' });
    await sources.add({ name: 'b' });
    const mirror = await start({ 'max-remote-services': 2 });
    await mirrors.become({ [nameOf('c2', 'a')]: [], [nameOf('c2', 'b')]: [] });
    await sources.add({ name: 'c' });
    await eventually(() => mirror.metric('semaphore_service_mirror_skipped_objects', left), 1);
    await eventually(() => mirror.metric(overBudget, over), 1);
    await sources.addSlice({ name: 'b-1', service: 'b', endpoints: ['10.4.0.1'] });
    await mirrors.become({ [nameOf('c2', 'a')]: [], [nameOf('c2', 'b')]: ['10.4.0.1'] });
    await sources.remove('services', { name: 'a' });
    await mirrors.become({ [nameOf('c2', 'b')]: ['10.4.0.1'], [nameOf('c2', 'c')]: [] });
    await eventually(() => mirror.metric('semaphore_service_mirror_skipped_objects', left), 0);
    expect(await mirror.metric(overBudget, over)).toBe(0);
  });

  it('has its parts in global Services counted, apart from other remotes', async ({
    sources,
    secondSources,
    mirrors,
    startWithFile,
  }) => {
    for (const name of ['a', 'b']) {
      await secondSources.add({ name, labels });
      await secondSources.addSlice({
        name: `${name}-1`,
        service: name,
        labels,
        endpoints: [name === 'a' ? '10.5.0.1' : '10.5.0.2'],
      });
    }
    await sources.add({ name: 'a', labels });
    await sources.addSlice({ name: 'a-1', service: 'a', labels, endpoints: ['10.4.0.1'] });
    const flags = ['-max-remote-services=2'];
    const mirror = await startWithFile({ globalSvcLabelSelector: 'global=true' }, { flags });
    const [a, b] = [nameOf('gl', 'a'), nameOf('gl', 'b')];
    await mirrors.become({ [a]: ['10.4.0.1', '10.5.0.1'], [b]: ['10.5.0.2'] });
    await sources.add({ name: 'm' });
    await mirrors.become({ [a]: ['10.4.0.1', '10.5.0.1'], [b]: ['10.5.0.2'], [nameOf('c2', 'm')]: [] });
    await sources.add({ name: 'b', labels });
    await sources.addSlice({ name: 'b-1', service: 'b', labels, endpoints: ['10.4.0.2'] });
    await eventually(() => mirror.metric('semaphore_service_mirror_skipped_objects', left), 1);
    expect(await mirror.metric(overBudget, { remote: 'c2-a', budget: 'services' })).toBe(0);
    await sources.remove('services', { name: 'm' });
    await mirrors.become({ [a]: ['10.4.0.1', '10.5.0.1'], [b]: ['10.4.0.2', '10.5.0.2'] });
  });
});

describe('a remote that causes endless writes', () => {
  it('delays neither other remotes nor a deletion', async ({ sources, secondSources, mirrors, startWithFile }) => {
    const many = Array.from({ length: 520 }, (_, i) => `s${i}`);
    // More than the 1,000 writes that a start has at this rate: a Service and a slice each.
    await Promise.all(
      many.map(async (name) => {
        await sources.add({ name });
        await sources.addSlice({ name: `${name}-1`, service: name, endpoints: ['10.4.0.1'] });
      }),
    );
    const mirror = await startWithFile({}, { flags: ['-max-remote-writes=1'] });
    const isOver = (remote: string) => mirror.metric(overBudget, { remote, budget: 'writes' });
    await eventually(() => isOver('c2'), 1);
    await secondSources.add({ name: 'web' });
    await secondSources.addSlice({ name: 'web-1', service: 'web', endpoints: ['10.5.0.1'] });
    const web = nameOf('c2-a', 'web');
    await eventually(
      async () =>
        (await mirrors.slices()).flatMap(({ metadata, endpoints }) =>
          metadata.name.startsWith(web) ? (endpoints ?? []) : [],
        ).length,
      1,
    );
    // What goes waits for no budget, neither its own nor another's.
    const going = many.slice(0, 100);
    await Promise.all(going.map((name) => sources.remove('services', { name })));
    await secondSources.remove('services', { name: 'web' });
    const gone = [web, ...going.map((name) => nameOf('c2', name))];
    const names = async () => (await mirrors.services()).map(({ metadata }) => metadata.name);
    await eventually(async () => (await names()).filter((name) => gone.includes(name)), []);
    expect([await isOver('c2'), await isOver('c2-a')]).toEqual([1, 0]);
  });

  it('spends no budget of another by global Services that they share', async ({
    sources,
    secondSources,
    mirrors,
    startWithFile,
  }) => {
    const shared = Array.from({ length: 10 }, (_, i) => `web-${i}`);
    for (const [i, name] of shared.entries())
      for (const [each, network] of [
        [sources, '10.4.0'],
        [secondSources, '10.5.0'],
      ] as const) {
        await each.add({ name, labels });
        await each.addSlice({ name: `${name}-1`, service: name, labels, endpoints: [`${network}.${i + 1}`] });
      }
    // They use the most of the 1,000 writes that a start has.
    await secondSources.add({ name: 'alone' });
    const slices = Array.from({ length: 700 }, (_, i) => `alone-${i}`);
    await Promise.all(
      slices.map((name) => secondSources.addSlice({ name, service: 'alone', endpoints: ['10.5.1.1'] })),
    );
    const flags = ['-max-remote-writes=1', '-min-write-interval=1ms'];
    const mirror = await startWithFile({ globalSvcLabelSelector: 'global=true' }, { flags });
    const isOver = (remote: string) => mirror.metric(overBudget, { remote, budget: 'writes' });
    await eventually(async () => (await mirrors.slices(nameOf('c2-a', 'alone'))).length, slices.length);
    const attack = { isOn: true };
    const attacking = (async () => {
      for (let round = 0; attack.isOn; round++) {
        const annotations = { 'semaphore.uw.io/cluster-order': round % 2 === 0 ? 'c2; c2-a' : 'c2-a; c2' };
        await Promise.all(shared.map((name) => sources.patch('services', { name }, { metadata: { annotations } })));
      }
    })();
    try {
      await eventually(async () => (await isOver('c2-a')) === 1 || (await isOver('global')) === 1, true);
      const endpoints = [{ addresses: ['10.5.0.250'], conditions: { ready: true } }];
      await secondSources.patch('endpointslices', { name: 'web-0-1' }, { endpoints });
      const addresses = async () =>
        (await mirrors.slices(nameOf('gl', 'web-0'))).flatMap((slice) =>
          (slice.endpoints ?? []).flatMap((each) => each.addresses),
        );
      await eventually(async () => (await addresses()).includes('10.5.0.250'), true);
      expect([await isOver('c2-a'), await isOver('global')]).toEqual([0, 1]);
    } finally {
      attack.isOn = false;
      await attacking;
    }
  });
});
