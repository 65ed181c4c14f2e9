import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { runUntilSignal } from './run-until-signal.ts';

/** A process that receives signals, with its log messages. */
class FakeProcess extends EventEmitter {
  readonly logs: string[] = [];
  readonly log = {
    info: (_fields: object, message: string) => void this.logs.push(message),
    warn: (_fields: object, message: string) => void this.logs.push(message),
    error: (fields: object, message: string) => void this.logs.push(`${message} ${JSON.stringify(fields)}`),
  };
  getActiveResourcesInfo = () => ['Timeout', 'TCPSocketWrap', 'Timeout'];
}

type Run = (options: { signal: AbortSignal }) => Promise<void>;

function start(run: Run, deadlineMs = 60_000) {
  const events = new FakeProcess();
  const clock = { ms: 0 };
  const code = runUntilSignal(run, { log: events.log, events, deadlineMs, now: () => clock.ms });
  return { events, logs: events.logs, clock, code };
}

const untilAborted: Run = async ({ signal }) => {
  await once(signal, 'abort');
};
const forever: Run = () => new Promise(() => undefined);

describe('runUntilSignal', () => {
  it.each(['SIGTERM', 'SIGINT'])('aborts the program on %s and returns 0', async (name) => {
    const { events, code, logs } = start(untilAborted);
    events.emit(name, name);
    expect(await code).toBe(0);
    expect(logs).toEqual(['shutting down']);
  });

  it('returns 0 when the program returns by itself', async () => {
    expect(await start(() => Promise.resolve()).code).toBe(0);
  });

  it('returns 1 when the program throws, and logs it once', async () => {
    const { code, logs } = start(() => Promise.reject(new Error('no port')));
    expect(await code).toBe(1);
    expect(logs).toEqual([expect.stringMatching(/^stopped by an error/)]);
  });

  it.each([
    { name: 'the abort', wrap: (reason: unknown) => reason },
    { name: 'an error that the abort caused', wrap: (reason: unknown) => new Error('list pods', { cause: reason }) },
  ])('returns 0 for $name', async ({ wrap }) => {
    const { events, code, logs } = start(async ({ signal }) => {
      await once(signal, 'abort');
      throw wrap(signal.reason);
    });
    events.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(0);
    expect(logs).toEqual(['shutting down']);
  });

  it('returns 1 when the program throws something else while it stops', async () => {
    const { events, code } = start(async ({ signal }) => {
      await once(signal, 'abort');
      throw new Error('the lease could not be released');
    });
    events.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(1);
  });

  it('returns at once on a second signal', async () => {
    const { events, code, logs, clock } = start(forever);
    events.emit('SIGTERM', 'SIGTERM');
    clock.ms = 501;
    events.emit('SIGINT', 'SIGINT');
    expect(await code).toBe(1);
    expect(logs).toEqual(['shutting down', 'second signal, exiting at once']);
  });

  it('ignores a signal right after the first, as npm forwards it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { events, code, logs } = start(() => promise);
    events.emit('SIGINT', 'SIGINT');
    events.emit('SIGINT', 'SIGINT');
    resolve();
    expect(await code).toBe(0);
    expect(logs).toEqual(['shutting down']);
  });

  it('logs what hangs at the deadline', async () => {
    const { events, code, logs } = start(forever, 1);
    events.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(1);
    expect(logs.at(-1)).toBe('shutdown timed out {"deadlineMs":1,"open":{"Timeout":2,"TCPSocketWrap":1}}');
  });

  it.each(['uncaughtException', 'unhandledRejection'])('returns 1 on an %s, and logs it', async (name) => {
    const { events, code, logs } = start(forever);
    events.emit(name, new Error('bug'));
    expect(await code).toBe(1);
    expect(logs).toEqual([expect.stringMatching(/^uncaught error/)]);
  });

  it('leaves no listener behind', async () => {
    const { events, code } = start(untilAborted);
    events.emit('SIGTERM', 'SIGTERM');
    await code;
    expect(events.eventNames()).toEqual([]);
  });
});
