import { KubeApiError } from '@kube-semaphore/kube-client';
import { describe, expect, it } from 'vitest';
import { WriteLog } from './write-log.ts';

const MINUTE_MS = 60_000;

function writeLog() {
  const lines: string[] = [];
  const troubles: boolean[] = [];
  const clock = { ms: 0 };
  const say = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { trace: say('trace'), debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const onTrouble = (inTrouble: boolean) => void troubles.push(inTrouble);
  const writes = new WriteLog({ log, what: 'set', onTrouble, now: () => clock.ms });
  const fail = (error: unknown, object = 'a') => writes.failed({ key: 'key', object, error, retryInMs: 50 });
  const count = (text: string) => lines.filter((line) => line.includes(text)).length;
  return { writes, fail, lines, count, troubles, clock };
}

const answer = (status: number, message = 'no') => new KubeApiError(message, { status });
const lost = Object.assign(new Error('reset'), { code: 'KUBE_CONNECTION' });
const missing = (verb: string) =>
  answer(
    403,
    `services is forbidden: User "u" cannot ${verb} resource "services" in API group "" in the namespace "x"`,
  );
const quota = answer(
  403,
  'services "a" is forbidden: exceeded quota: few, requested: count/services=1, used: 5, limited: 5',
);

it('logs a write', () => {
  const { writes, lines } = writeLog();
  writes.written('set created', { set: 'c2-ns-app' });
  expect(lines).toEqual(['info set created {"set":"c2-ns-app"}']);
});

describe('the log of failures', () => {
  it.each([
    { name: 'each missing right', errors: [missing('create'), missing('update')] },
    { name: 'each other status', errors: [answer(500), answer(429)] },
    { name: 'each kind of lost connection', errors: [lost, Object.assign(new Error('silent'), { code: 'KUBE_IDLE' })] },
  ])('has one line a minute for $name, whatever the object', ({ errors }) => {
    const { fail, count, clock } = writeLog();
    const failAll = () => {
      for (let object = 0; object < 100; object += 1) for (const error of errors) fail(error, `${object}`);
    };
    failAll();
    clock.ms += MINUTE_MS - 1;
    failAll();
    expect(count('warn')).toBe(errors.length);
    clock.ms += 1;
    failAll();
    expect(count('warn')).toBe(2 * errors.length);
  });

  it('has no warning of what is usual', () => {
    const { fail, count } = writeLog();
    fail(answer(409));
    fail(new KubeApiError('x', { status: 403, causes: ['NamespaceTerminating'] }));
    fail(quota);
    expect([count('warn'), count('debug')]).toEqual([0, 3]);
  });
});

describe('writes are in trouble', () => {
  it('at once if the API server does not answer, until one succeeds', () => {
    const { writes, fail, count, troubles } = writeLog();
    for (let attempt = 0; attempt < 3; attempt += 1) fail(lost);
    writes.written('set created', {});
    writes.written('set created', {});
    expect(troubles).toEqual([true, true, true, false]);
    expect(count('local writes recovered')).toBe(1);
  });

  it.each([401, 429, 500, 503])('if several objects fail with %i, and none succeeds for ten seconds', (status) => {
    const { writes, fail, count, troubles, clock } = writeLog();
    const failBoth = () => ['a', 'b'].forEach((object) => fail(answer(status), object));
    failBoth();
    clock.ms = 9_999;
    failBoth();
    writes.written('set created', {});
    failBoth();
    clock.ms += 9_999;
    failBoth();
    expect([troubles, count('recovered')]).toEqual([[], 0]);
    clock.ms += 1;
    failBoth();
    writes.written('set created', {});
    expect([troubles, count('recovered')]).toEqual([[true, true, false], 1]);
  });

  it.each([
    { name: 'one object fails', errors: [answer(500)], objects: ['a'] },
    { name: 'objects are refused', errors: [quota, answer(422), answer(409)], objects: ['a', 'b', 'c'] },
  ])('never because $name', ({ errors, objects }) => {
    const { fail, troubles, clock } = writeLog();
    for (let minute = 0; minute < 10; minute += 1) {
      for (const error of errors) for (const object of objects) fail(error, object);
      clock.ms += MINUTE_MS;
    }
    expect(troubles).toEqual([]);
  });
});
