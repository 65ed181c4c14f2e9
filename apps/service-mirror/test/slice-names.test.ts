import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';

const mirror = 'c2-default-73736d-web';
const tenDigits = /-[0-9a-f]{10}$/;
const twentyDigits = /-[0-9a-f]{20}$/;

describe('slices', () => {
  it('with names of an older build are replaced, never without an endpoint', async ({
    sources,
    mirrors,
    history,
    start,
  }) => {
    await sources.add({ name: 'web' });
    for (const [name, address] of [
      ['web-a', '10.4.0.1'],
      ['web-b', '10.4.0.2'],
    ] as const)
      await sources.addSlice({ name, service: 'web', endpoints: [address] });
    const first = await start();
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    await first.stop();
    const names = async () => (await mirrors.slices(mirror)).map(({ metadata }) => metadata.name);
    for (const { metadata, ...slice } of await mirrors.slices(mirror)) {
      const { labels, annotations, ownerReferences } = metadata as typeof metadata & { ownerReferences: object[] };
      await mirrors.create('endpointslices', {
        ...slice,
        metadata: { name: metadata.name.slice(0, -10), labels, annotations, ownerReferences },
      });
      await mirrors.remove('endpointslices', metadata.name);
    }
    expect((await names()).every((name) => tenDigits.test(name) && !twentyDigits.test(name))).toBe(true);

    await start();
    await eventually(async () => (await names()).map((name) => twentyDigits.test(name)), [true, true]);
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
  });

  it('are all written, also if their names share ten digits of a hash', async ({ sources, mirrors, start }) => {
    await sources.add({ name: 'web', namespace: 'default' });
    // c2/default/web-06bl6 and c2/default/web-07aby share it; found in seconds.
    for (const [name, address] of [
      ['web-06bl6', '10.4.0.1'],
      ['web-07aby', '10.4.0.2'],
    ] as const)
      await sources.addSlice({ name, service: 'web', endpoints: [address] });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
  });
});
