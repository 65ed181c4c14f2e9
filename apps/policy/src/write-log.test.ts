import { expect, it } from 'vitest';
import { WriteLog } from './write-log.ts';

function writeLog() {
  const lines: string[] = [];
  const troubles: boolean[] = [];
  const say = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { trace: say('trace'), debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  return { log: new WriteLog({ log, onTrouble: (inTrouble) => troubles.push(inTrouble) }), lines, troubles };
}

const set = { name: 'c2-ns-app', uid: 'u', resourceVersion: '1', labels: {}, annotations: {}, nets: ['10.0.0.1/32', '10.0.0.2/32'] };
const failure = (error: object) => ({ key: 'c2-ns-app', error, retryInMs: 50 });
const level = (line: string) => line.split(' ')[0];

it('says what a write changed', () => {
  const { log, lines } = writeLog();
  log.written({ kind: 'create', to: set });
  log.written({ kind: 'update', from: set, to: { ...set, nets: ['10.0.0.2/32', '10.0.0.3/32', '10.0.0.4/32'] } });
  log.written({ kind: 'delete', from: set });
  expect(lines).toEqual([
    'info set created {"set":"c2-ns-app","nets":2}',
    'info set updated {"set":"c2-ns-app","nets":3,"added":2,"removed":1}',
    'info set deleted {"set":"c2-ns-app","removed":2}',
  ]);
});

it('says once that nothing can be written, and once that it can again', () => {
  const { log, lines, troubles } = writeLog();
  for (let set = 0; set < 100; set++) log.failed(failure({ code: 'KUBE_API', status: 403 }));
  log.written({ kind: 'create', to: set });
  log.written({ kind: 'create', to: set });
  expect(lines.filter((line) => level(line) === 'warn')).toHaveLength(1);
  expect(lines.filter((line) => line.includes('work again'))).toHaveLength(1);
  expect(troubles).toEqual([true, false]);
});

it('says each time what is wrong with one set, and keeps quiet about a conflict', () => {
  const { log, lines, troubles } = writeLog();
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 422 }));
  log.failed(failure({ code: 'KUBE_API', status: 409 }));
  expect(lines.map(level)).toEqual(['warn', 'warn', 'debug']);
  expect(troubles).toEqual([]);
});
