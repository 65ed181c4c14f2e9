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

it('says what was written', () => {
  const { log, lines } = writeLog();
  log.written('set created', { set: 'c2-ns-app' });
  expect(lines).toEqual(['info set created {"set":"c2-ns-app"}']);
});

it('says once that nothing can be written, and once that it can again', () => {
  const { log, lines } = writeLog();
  for (let set = 0; set < 100; set++) log.failed(failure({ code: 'KUBE_API', status: 403 }));
  log.written('set created', {});
  log.written('set created', {});
  expect(lines.filter((line) => level(line) === 'warn')).toHaveLength(1);
  expect(lines.filter((line) => line.includes('work again'))).toHaveLength(1);
});

it('tells with each failure that nothing can be written, whoever said otherwise meanwhile', () => {
  const { log, troubles } = writeLog();
  for (let set = 0; set < 3; set++) log.failed(failure({ code: 'KUBE_API', status: 403 }));
  log.written('set created', {});
  log.written('set created', {});
  expect(troubles).toEqual([true, true, true, false]);
});

it('says each time what is wrong with one object, and keeps quiet about a conflict', () => {
  const { log, lines, troubles } = writeLog();
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 409 }));
  expect(lines.map(level)).toEqual(['warn', 'warn', 'debug']);
  expect(troubles).toEqual([]);
});
