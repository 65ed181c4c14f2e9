import { NotLeadingError, SoleLeader } from '@kube-semaphore/leader-election';
import { expect, it, onTestFinished } from 'vitest';
import { LocalWrites } from './local-writes.ts';
import { RemoteWritesError } from './remote-writes.ts';

const create = {
  key: 'a',
  account: undefined,
  isDeletion: false,
  since: undefined,
  remote: undefined,
  repairs: undefined,
  event: () => ({ event: 'set created', facts: {} }),
} as const;

/** Local writes of a leader, and what `remote_up` says of the local cluster. */
function localWrites({ concurrency = 1 } = {}) {
  const up = new Map<string, number>();
  const lines: string[] = [];
  const say = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  const leadership = new SoleLeader();
  const aborter = new AbortController();
  void leadership.run({ signal: aborter.signal, onStartedLeading: () => {}, onStoppedLeading: () => {} });
  onTestFinished(() => aborter.abort());
  const writes = new LocalWrites({
    leadership,
    what: 'set',
    concurrency,
    objectsOf: () => 0,
    perSecond: 20,
    log: { trace: say('trace'), debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') },
    metrics: {
      remoteUp: { set: ({ remote }: { remote: string }, value: number) => void up.set(remote, value) },
    } as never,
  });
  const fail = (error: unknown) => writes.failed({ key: 'a', error, retryInMs: 50 });
  return { writes, fail, up, lines, stopLeading: () => aborter.abort() };
}

it('sends nothing any more if it stopped leading while a write waited for its connection', async () => {
  const { writes, stopLeading } = localWrites();
  const sent = writes.write(create, async ({ beforeSend }) => {
    stopLeading();
    beforeSend!();
  });
  await expect(sent).rejects.toThrow(NotLeadingError);
});

it('counts the local API server as down from a failure of all writes to the next write', async () => {
  const { writes, fail, up, lines } = localWrites();
  const lost = Object.assign(new Error('reset'), { code: 'KUBE_CONNECTION' });
  await expect(writes.write(create, () => Promise.reject(lost))).rejects.toBe(lost);
  fail(lost);
  fail(lost);
  expect(up.get('local')).toBe(0);
  expect(await writes.write(create, () => Promise.resolve('written'))).toBe('written');
  expect(up.get('local')).toBe(1);
  expect(lines).toEqual([
    'warn set not written, retrying',
    'debug set not written, retrying',
    'info local writes recovered',
    'info set created',
  ]);
});

it.each([new NotLeadingError(), new RemoteWritesError('c2', 1_000)])(
  'does not report a write that waits: $name',
  (error) => {
    const { fail, up, lines } = localWrites();
    fail(error);
    expect({ up, lines }).toEqual({ up: new Map(), lines: [] });
  },
);

it('writes for a remote while all writes for another have no answer', async () => {
  const { writes } = localWrites({ concurrency: 16 });
  const ended = Promise.withResolvers<string>();
  const hanging = Array.from({ length: 20 }, () => writes.write({ ...create, account: 'c3' }, () => ended.promise));
  const withdrawal = { ...create, account: 'c2', isDeletion: true };
  const first = await Promise.race([writes.write(withdrawal, async () => 'deleted'), new Promise(setImmediate)]);
  expect(first).toBe('deleted');
  ended.resolve('late');
  await Promise.all(hanging);
});
