import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithTwoRemotes as it } from './support/remotes.ts';

/** `c2` and `a-b`, `c2-a` and `b` make one name. */
const mirror = 'c2-a-b-73736d-web';
const first = { name: 'web', namespace: 'a-b' };
const second = { name: 'web', namespace: 'b' };
const slice = { name: 'web-a', service: 'web' };
const gauge = 'semaphore_service_mirror_skipped_objects';
const taken = (remote: string) => ({ remote, reason: 'name-taken', kind: 'problem' });

/** Creation times have seconds. */
const nextSecond = (since: number) => eventually(() => Math.floor(Date.now() / 1000) > Math.floor(since / 1000), true);

describe('a name that two sources want', () => {
  it.beforeEach(async ({ remote, second: other }) => {
    await remote.admin.request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: first.namespace },
    });
    await other.admin.request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: second.namespace },
    });
  });

  it.for([{ older: 'c2' }, { older: 'c2-a' }])(
    'belongs to the older one, $older, whichever is seen first, and to the other after its deletion',
    async ({ older }, { sources, secondSources, mirrors, history, startWithFile }) => {
      const addFirst = async () => {
        await sources.add(first);
        await sources.addSlice({ ...slice, namespace: first.namespace, endpoints: ['10.4.0.1'] });
      };
      const addSecond = async () => {
        await secondSources.add(second);
        await secondSources.addSlice({ ...slice, namespace: second.namespace, endpoints: ['10.5.0.1'] });
      };
      const [addOlder, addYounger] = older === 'c2' ? [addFirst, addSecond] : [addSecond, addFirst];
      const [mine, theirs] = older === 'c2' ? [['10.4.0.1'], ['10.5.0.1']] : [['10.5.0.1'], ['10.4.0.1']];
      const younger = older === 'c2' ? 'c2-a' : 'c2';
      await addOlder();
      await nextSecond(Date.now());
      await addYounger();
      const program = await startWithFile({ serviceSync: true });
      await mirrors.become({ [mirror]: mine });
      await eventually(() => program.metric(gauge, taken(younger)), 1);
      const { uid } = (await mirrors.service(mirror)).metadata;

      if (older === 'c2') await sources.remove('services', first);
      else await secondSources.remove('services', second);
      await mirrors.become({ [mirror]: theirs });
      await eventually(
        async () => (await mirrors.service(mirror)).metadata.labels?.['mirror-svc-prefix-sync'],
        younger,
      );
      expect((await mirrors.service(mirror)).metadata.uid).toBe(uid);
      await eventually(() => program.metric(gauge, taken(younger)), 0);
      await history.caughtUp();
      expect(history.deletions).toEqual([]);
      expect(history.gaps).toEqual([]);
    },
  );

  it('moves to an older source that appears late, and back', async ({
    sources,
    secondSources,
    mirrors,
    history,
    secondProxy,
    startWithFile,
  }) => {
    await secondSources.add(second);
    await secondSources.addSlice({ ...slice, namespace: second.namespace, endpoints: ['10.5.0.1'] });
    await nextSecond(Date.now());
    await sources.add(first);
    await sources.addSlice({ ...slice, namespace: first.namespace, endpoints: ['10.4.0.1'] });
    await secondProxy.set({ kind: 'refuse' });
    const program = await startWithFile({}, { ready: false });
    // No object has the name, and the older source is unknown.
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await secondProxy.clear();
    await mirrors.become({ [mirror]: ['10.5.0.1'] });
    await eventually(() => program.metric(gauge, taken('c2')), 1);
    await secondSources.remove('services', second);
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await history.caughtUp();
    expect(history.deletions).toEqual([]);
    expect(history.gaps).toEqual([]);
  });

  it.for([
    { name: 'with another source present', isThere: true },
    { name: 'with nothing else', isThere: false },
  ])(
    'stays with a holder whose cluster is not reached at the start, $name',
    async ({ isThere }, { sources, secondSources, mirrors, history, secondProxy, startWithFile }) => {
      await secondSources.add(second);
      await secondSources.addSlice({ ...slice, namespace: second.namespace, endpoints: ['10.5.0.1'] });
      const before = await startWithFile({ serviceSync: true });
      await mirrors.become({ [mirror]: ['10.5.0.1'] });
      await before.stop();
      await secondProxy.set({ kind: 'refuse' });
      if (isThere) await sources.add(first);
      await sources.add({ name: 'other' });
      const program = await startWithFile({ serviceSync: true }, { ready: false });
      await mirrors.become({ [mirror]: ['10.5.0.1'], 'c2-default-73736d-other': [] });
      if (isThere) await eventually(() => program.metric(gauge, taken('c2')), 1);
      await secondProxy.clear();
      await program.logged('services listed', { cluster: 'c2-a' });
      await secondSources.addSlice({
        name: 'web-b',
        service: 'web',
        namespace: second.namespace,
        endpoints: ['10.5.0.2'],
      });
      await mirrors.become({ [mirror]: ['10.5.0.1', '10.5.0.2'], 'c2-default-73736d-other': [] });
      await history.caughtUp();
      expect(history.deletions).toEqual([]);
      expect(history.gaps).toEqual([]);
    },
  );
});

describe('a Service of another process, whose prefix begins like ours', () => {
  it('is not ours', async ({ mirrors, sources, start }) => {
    const labels = { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2-a' };
    await mirrors.create('services', { metadata: { name: mirror, labels }, spec: { ports: [{ port: 80 }] } });
    const whose = {
      ...labels,
      'kubernetes.io/service-name': mirror,
      'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
    };
    const body = { addressType: 'IPv4', endpoints: [{ addresses: ['10.5.0.1'] }], ports: [] };
    await mirrors.create('endpointslices', { metadata: { name: 'theirs', labels: whose }, ...body });
    // Its Service isn't visible yet, or not any longer.
    const late = 'c2-a-b-73736d-late';
    await mirrors.create('endpointslices', {
      metadata: { name: 'theirs-alone', labels: { ...whose, 'kubernetes.io/service-name': late } },
      ...body,
    });
    await sources.add({ name: 'other' });
    await start({ 'svc-prefix': 'c2' });
    await mirrors.become({ [mirror]: ['10.5.0.1'], [late]: ['10.5.0.1'], 'c2-default-73736d-other': [] });
    // Another mirror of ours is written, and the foreign one still exists.
    await sources.add({ name: 'last' });
    await mirrors.become({
      [mirror]: ['10.5.0.1'],
      [late]: ['10.5.0.1'],
      'c2-default-73736d-other': [],
      'c2-default-73736d-last': [],
    });
    expect((await mirrors.slices()).map(({ metadata }) => metadata.name)).toEqual(['theirs', 'theirs-alone']);
  });
});
