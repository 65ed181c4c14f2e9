// A level that had too few endpoints is up again after 30 s: too long for CI.
import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import { it } from '../support/net/ordered-service.ts';

it('a level that flaps moves traffic once, and back when it has had enough ready endpoints for 30 s', async ({
  start,
  ordered,
}) => {
  const program = await start();
  const { set, answers, answeredBy } = await ordered('flapping', {
    'semaphore.uw.io/cluster-order': 'local; c2; c3',
    'semaphore.uw.io/min-ready': '1',
  });
  await answeredBy('c1');
  /** Of the best level, for the global Service and the import. */
  const bestLevels = async () => {
    const { orders } = (await program.status()) as { orders: { moved: { levels: { state: string }[] }[] } };
    return orders.moved.map(({ levels }) => levels[0]?.state);
  };
  for (let i = 0; i < 3; i++) {
    await set('c1', 'broken');
    await answeredBy('c2');
    await set('c1', 'ready');
    await eventually(bestLevels, ['waiting', 'waiting']);
    expect([...new Set(Object.values(await answers()))]).toEqual(['c2']);
  }
  await answeredBy('c1');
});
