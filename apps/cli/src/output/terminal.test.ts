import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { terminalOf } from './terminal.ts';

function terminal({ isTTY = true, env = {} as NodeJS.ProcessEnv } = {}) {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => written.push(text) > 0 } as unknown as NodeJS.WriteStream & {
    fd: 1;
  };
  return { written, ...terminalOf({ stdout: stream, stderr: stream as never, env }) };
}

describe('colour', () => {
  it.each([
    { name: 'is on a terminal', where: {}, want: '\u001b[31mx\u001b[39m' },
    { name: 'is not in a file', where: { isTTY: false }, want: 'x' },
    { name: 'is not with NO_COLOR', where: { env: { NO_COLOR: '1' } }, want: 'x' },
    { name: 'is with an empty NO_COLOR', where: { env: { NO_COLOR: '' } }, want: '\u001b[31mx\u001b[39m' },
  ])('$name', ({ where, want }) => {
    expect(terminal(where).paint('red', 'x')).toBe(want);
  });
});

describe('progress', () => {
  it.each([
    { name: 'is shown after a second, and removed', ms: 1_500, isTTY: true, want: ['reading c1 …', '\r\u001b[K'] },
    { name: 'is not shown before', ms: 900, isTTY: true, want: [] },
    { name: 'is not shown in a file', ms: 1_500, isTTY: false, want: [] },
  ])('$name', async ({ ms, isTTY, want }) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { written, whileWaiting } = terminal({ isTTY });
    const work = whileWaiting('reading c1', new Promise((resolve) => void setTimeout(resolve, ms, 'read')));
    await vi.advanceTimersByTimeAsync(ms);
    expect(await work).toBe('read');
    expect(written).toEqual(want);
  });
});
