import { describe, expect, it } from 'vitest';
import { createLogger, type LogFields, type Logger } from './logger.ts';

type Options = { level?: keyof Logger | 'off'; format?: 'auto' | 'json' | 'pretty'; isTTY?: boolean };

/** The text that `write` made a logger write. */
function logged(
  write: (log: Logger) => void,
  { level = 'info', format = 'json', isTTY = false }: Options = {},
): string {
  let text = '';
  write(createLogger({ level, format, destination: { isTTY, write: (line) => (text += line) } }));
  return text;
}

const lineOf = (fields: LogFields) => JSON.parse(logged((log) => log.info(fields, 'm'))) as Record<string, unknown>;

describe('a JSON line', () => {
  it('has level, time, message and fields, and nothing of the host', () => {
    const line: unknown = JSON.parse(logged((log) => log.warn({ remote: 'c2', attempt: 3 }, 'watch ended')));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(line).toEqual({ level: 'warn', time, msg: 'watch ended', remote: 'c2', attempt: 3 });
  });

  it('ends in one line break, whatever the fields hold', () => {
    expect(logged((log) => log.info({ text: 'a\nb' }, 'm'))).toMatch(/^[^\n]+\n$/);
  });

  it.each([
    { name: 'is dropped below the level', level: 'info' as const, want: ['info', 'warn', 'error'] },
    { name: 'is written from the level on', level: 'debug' as const, want: ['debug', 'info', 'warn', 'error'] },
    { name: 'of an error is always written', level: 'error' as const, want: ['error'] },
  ])('$name', ({ level, want }) => {
    const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
    const text = logged((log) => levels.forEach((each) => log[each]({}, 'm')), { level });
    expect(text.match(/(?<="level":")\w+/g)).toEqual(want);
  });
});

describe('the level off', () => {
  it('writes nothing', () => {
    expect(logged((log) => log.error({}, 'm'), { level: 'off' })).toBe('');
  });
});

describe('an error in a line', () => {
  it('has its code, its status and its causes', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = Object.assign(new Error('list pods', { cause: refused }), { code: 'KUBE_API', status: 503 });
    expect(lineOf({ error })).toMatchObject({
      error: {
        type: 'Error',
        message: 'list pods',
        code: 'KUBE_API',
        status: 503,
        cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
      },
    });
  });

  it('has its stack if nobody foresaw it, and none if it has a code', () => {
    const stackOf = (error: Error) => (lineOf({ error }) as { error: { stack?: string } }).error.stack;
    expect(stackOf(new TypeError('x is undefined'))).toContain('logger.test.ts');
    expect(stackOf(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))).toBeUndefined();
  });

  it('has the members of an AggregateError', () => {
    const error = new AggregateError([new Error('a'), 'b'], 'both');
    expect(lineOf({ error })).toMatchObject({
      error: { type: 'AggregateError', errors: [{ message: 'a' }, { type: 'string', message: 'b' }] },
    });
  });

  it('has nothing of what else hangs on it', () => {
    const error = Object.assign(new Error('failed'), { request: { headers: { authorization: 'Bearer s3cret' } } });
    expect(JSON.stringify(lineOf({ error }))).not.toContain('s3cret');
  });

  it('survives a loop of causes', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(lineOf({ error })).toMatchObject({ error: { message: 'loop', cause: { message: 'loop' } } });
  });
});

describe('a secret', () => {
  it.each([
    { name: 'at the top', fields: { token: 's3cret' } },
    { name: 'one level down', fields: { remote: { token: 's3cret', name: 'c2' } } },
    { name: 'two levels down', fields: { request: { headers: { authorization: 'Bearer s3cret' } } } },
    { name: 'in a header as it was sent', fields: { headers: { Authorization: 'Bearer s3cret' } } },
    { name: 'that is a key', fields: { device: { privateKey: 's3cret' } } },
  ])('$name is not written', ({ fields }) => {
    for (const format of ['json', 'pretty'] as const) {
      const text = logged((log) => log.info(fields, 'm'), { format });
      expect(text).toContain('[Redacted]');
      expect(text).not.toContain('s3cret');
    }
  });
});

describe('the format', () => {
  it.each([
    { name: 'auto is JSON without a terminal', format: 'auto' as const, isTTY: false, want: /^\{/ },
    { name: 'auto is pretty on a terminal', format: 'auto' as const, isTTY: true, want: /^\d\d:\d\d/ },
    { name: 'json is JSON on a terminal too', format: 'json' as const, isTTY: true, want: /^\{/ },
    { name: 'pretty is pretty without a terminal too', format: 'pretty' as const, isTTY: false, want: /^\d\d:\d\d/ },
  ])('$name', ({ format, isTTY, want }) => {
    expect(logged((log) => log.info({}, 'm'), { format, isTTY })).toMatch(want);
  });
});
