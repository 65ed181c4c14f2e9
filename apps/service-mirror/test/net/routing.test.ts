import { eventually } from '@kube-semaphore/eventually';
import { describe, expect, onTestFinished } from 'vitest';
import { it } from '../support/net/ordered-service.ts';

const ORDER = { 'semaphore.uw.io/cluster-order': 'local; c2; c3' };

/** What `answers` says if each way is answered by the same cluster. */
const each = (answers: Readonly<Record<string, string>>): readonly string[] => [...new Set(Object.values(answers))];

describe('a global Service and an import with three levels, in both modes of kube-proxy', () => {
  it('are answered by the best level that has a ready endpoint, and by all if they all leave', async ({
    start,
    ordered,
    drain,
  }) => {
    await start();
    const { set, answeredBy } = await ordered('levels', ORDER);
    await answeredBy('c1');
    await set('c1', 'broken');
    await answeredBy('c2');
    await set('c2', 'broken');
    await answeredBy('c3');
    await set('c2', 'ready');
    await answeredBy('c2');
    await drain('c2');
    await answeredBy('c3');
    await set('c3', 'broken');
    await answeredBy('c2');
    await set('c3', 'ready');
    await set('c1', 'ready');
    await answeredBy('c1');
    await drain('c1', 'c2', 'c3');
    await answeredBy('c1');
    await drain();
    for (const cluster of ['c1', 'c2', 'c3'] as const) await set(cluster, 'leaving');
    await answeredBy('c1', 'c2', 'c3');
    await set('c1', 'ready');
    await answeredBy('c1');
  });

  it('are answered as before while a remote is not reached, and while the program is stopped, or killed', async ({
    lab: { proxy },
    start,
    ordered,
  }) => {
    const program = await start();
    const { set, answers, answeredBy } = await ordered('alone', ORDER);
    await answeredBy('c1');
    onTestFinished(() => proxy.clear());
    await proxy.set({ kind: 'refuse' });
    await proxy.set({ kind: 'reset', connections: 'open' });
    await set('c1', 'broken');
    await answeredBy('c2');
    await set('c1', 'ready');
    await answeredBy('c1');
    await proxy.clear();

    program.signal('SIGSTOP');
    await set('c1', 'broken');
    expect(each(await answers())).toEqual(['c1']);
    program.signal('SIGCONT');
    await answeredBy('c2');
    await program.stop('SIGKILL');
    await set('c1', 'ready');
    expect(each(await answers())).toEqual(['c2']);
    await start();
    await answeredBy('c1');
  });
});

describe('a drain', () => {
  it('lets open connections and flows of datagrams live, and sends new ones elsewhere, in both modes of kube-proxy', async ({
    start,
    ordered,
    drain,
  }) => {
    await start();
    const annotations = { 'semaphore.uw.io/cluster-order': 'c2; c3; local' };
    const { answeredBy, connections, flows } = await ordered('drained', annotations);
    await answeredBy('c2');
    const [open, datagrams] = [connections(), flows()];
    onTestFinished(() => [...open, ...datagrams].forEach(({ close }) => close()));
    for (const connection of open) expect(await connection.answer()).toBe('c2');
    for (const flow of datagrams) await eventually(() => flow.ask(), 'c2');
    await drain('c2');
    await answeredBy('c3');
    for (const each of [...open, ...datagrams]) expect(await each.ask()).toBe('c2');
    const later = flows();
    onTestFinished(() => later.forEach(({ close }) => close()));
    for (const flow of later) expect(await flow.ask()).toBe('c3');
    await drain();
    await answeredBy('c2');
    for (const each of [...open, ...datagrams]) expect(await each.ask()).toBe('c2');
  });

  it('moves clients that a Service with session affinity sends to one endpoint', async ({ start, ordered, drain }) => {
    await start();
    const spec = { sessionAffinity: 'ClientIP' };
    const { answers, ways } = await ordered('sticky', { 'semaphore.uw.io/cluster-order': 'c2, c3; local' }, spec);
    const oneOf = (...clusters: readonly string[]) =>
      eventually(async () => Object.values(await answers()).every((names) => clusters.includes(names)), true);
    await oneOf('c2', 'c3');
    const before = await answers();
    await expect(answers()).resolves.toEqual(before);
    await drain('c2');
    await eventually(answers, Object.fromEntries(ways.map(({ name }) => [name, 'c3'])));
    await drain();
    await oneOf('c2', 'c3');
  });
});
