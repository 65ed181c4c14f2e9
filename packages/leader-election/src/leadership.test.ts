import { describe, expect, it } from 'vitest';
import { NotLeadingError } from './writes.ts';
import { SoleLeader } from './leadership.ts';

describe('SoleLeader', () => {
  it('leads from start to end, and waits for running writes', async () => {
    const leader = new SoleLeader();
    const stopped = new AbortController();
    const events: string[] = [];
    const on = (event: string) => () => events.push(event);
    await expect(leader.guard(async () => 'too early')).rejects.toThrow(NotLeadingError);
    const { signal } = stopped;
    const done = leader.run({ signal, onStartedLeading: on('started'), onStoppedLeading: on('stopped') });
    const running = done.then(on('returned'));
    expect(leader.isLeader).toBe(true);

    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const writing = leader.guard(() => answer).then(on('written'));
    stopped.abort();
    await expect(leader.guard(async () => 'too late')).rejects.toThrow(NotLeadingError);
    resolve();
    await Promise.all([writing, running]);
    expect(events).toEqual(['started', 'stopped', 'written', 'returned']);
  });

  it('does nothing if its signal is already aborted', async () => {
    const never = (): never => expect.unreachable();
    await new SoleLeader().run({ signal: AbortSignal.abort(), onStartedLeading: never, onStoppedLeading: never });
  });
});
