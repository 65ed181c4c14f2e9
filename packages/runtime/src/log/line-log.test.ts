import { expect, it } from 'vitest';
import { lineLog } from './line-log.ts';

it('prints warnings with their fields, and the causes of an error', () => {
  const lines: string[] = [];
  const log = lineLog((line) => lines.push(line));
  log.info({}, 'started');
  log.warn({}, 'SP_LOGLEVEL does not exist');
  log.warn({ path: 'config.json', error: new Error('not read', { cause: new Error('EACCES') }) }, 'odd');
  expect(lines).toEqual([
    'warning: SP_LOGLEVEL does not exist',
    'warning: odd (path: config.json, error: not read: EACCES)',
  ]);
});
