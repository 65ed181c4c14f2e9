import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitedLog } from './limited-log.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function recorded() {
  const lines: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  const log = limitedLog(
    { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    { cluster: 'c2' },
  );
  const count = (message: string): number => lines.filter((line) => line.message === message).length;
  return { log, lines, count };
}

it('writes 100 lines a minute with the same message, and then the number of the others', () => {
  const { log, lines, count } = recorded();
  for (let pod = 0; pod < 10_000; pod++) log.warn({ cluster: 'c2', pod }, 'skipped');
  expect(lines).toHaveLength(100);
  vi.advanceTimersByTime(60_000);
  expect(lines.slice(100)).toEqual([
    {
      level: 'warn',
      message: 'log lines suppressed',
      fields: { cluster: 'c2', suppressed: 9_900, line: 'skipped', periodMs: 60_000 },
    },
  ]);
  log.warn({}, 'skipped');
  vi.advanceTimersByTime(60_000);
  expect([count('skipped'), count('log lines suppressed')]).toEqual([101, 1]);
});

it('writes other messages, and all lines at error and debug', () => {
  const { log, count } = recorded();
  for (let i = 0; i < 300; i++) {
    log.warn({}, 'skipped');
    log.debug({}, 'skipped at debug');
    log.error({}, 'broken');
  }
  log.info({}, 'API server recovered');
  expect([count('skipped'), count('skipped at debug'), count('broken'), count('API server recovered')]).toEqual([
    100, 300, 300, 1,
  ]);
});
