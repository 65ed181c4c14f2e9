import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const talker = fileURLToPath(new URL('./talker.ts', import.meta.url));

/** Starts the talker, reads its first line, and closes the pipe. */
async function hearAndLeave(stream: 'stdout' | 'stderr', ...words: readonly string[]): Promise<unknown> {
  const child = spawn(process.execPath, [talker, stream, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child[stream], 'data');
  child[stream].destroy();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? code;
}

describe('a program whose output has no reader any more', () => {
  it.each(['stdout', 'stderr'] as const)('ends as if by SIGPIPE: %s', async (stream) => {
    expect(await hearAndLeave(stream)).toBe(141);
  });

  it('ends with the first uncaught error if it is not prepared', async () => {
    expect(await hearAndLeave('stderr', 'unprepared')).toBe(1);
  });
});
