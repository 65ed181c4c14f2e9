import { expect, it } from 'vitest';
import { WriteLog } from './write-log.ts';

function writeLog() {
  const lines: string[] = [];
  const troubles: boolean[] = [];
  const say = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { trace: say('trace'), debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  return {
    log: new WriteLog({ log, what: 'set', onTrouble: (inTrouble) => troubles.push(inTrouble) }),
    lines,
    troubles,
  };
}

const failure = (error: object) => ({ key: 'c2-ns-app', error, retryInMs: 50 });
const level = (line: string) => line.split(' ')[0];

it('logs a write', () => {
  const { log, lines } = writeLog();
  log.written('set created', { set: 'c2-ns-app' });
  expect(lines).toEqual(['info set created {"set":"c2-ns-app"}']);
});

it.each([
  { name: '401', error: { code: 'KUBE_API', status: 401 } },
  { name: '403', error: { code: 'KUBE_API', status: 403 } },
  { name: '429', error: { code: 'KUBE_API', status: 429 } },
  { name: '500', error: { code: 'KUBE_API', status: 500 } },
  { name: '503', error: { code: 'KUBE_API', status: 503 } },
  { name: 'a connection that is reset', error: { code: 'KUBE_CONNECTION' } },
  { name: 'silence', error: { code: 'KUBE_IDLE' } },
])('logs once that all writes fail with $name, and once that they recovered', ({ error }) => {
  const { log, lines } = writeLog();
  for (let set = 0; set < 100; set++) log.failed(failure(error));
  log.written('set created', {});
  log.written('set created', {});
  expect(lines.filter((line) => level(line) === 'warn')).toHaveLength(1);
  expect(lines.filter((line) => line.includes('recovered'))).toHaveLength(1);
});

it('reports trouble with each failure that all writes share', () => {
  const { log, troubles } = writeLog();
  for (let set = 0; set < 3; set++) log.failed(failure({ code: 'KUBE_API', status: 403 }));
  log.written('set created', {});
  log.written('set created', {});
  expect(troubles).toEqual([true, true, true, false]);
});

it('logs each failure of one object, and a conflict at debug', () => {
  const { log, lines, troubles } = writeLog();
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 409 }));
  expect(lines.map(level)).toEqual(['warn', 'warn', 'debug']);
  expect(troubles).toEqual([]);
});
