import { describe, expect, it } from 'vitest';
import type { LogFields } from './bounded-fields.ts';
import { createLogger, type Logger } from './logger.ts';

type Options = { level?: keyof Logger | 'off'; format?: 'auto' | 'json' | 'pretty'; isTTY?: boolean };

/** The output of a logger that `write` uses. */
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
  it('has level, time, message and fields, and no facts of the host', () => {
    const line: unknown = JSON.parse(logged((log) => log.warn({ remote: 'c2', attempt: 3 }, 'watch ended')));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(line).toEqual({ level: 'warn', time, msg: 'watch ended', remote: 'c2', attempt: 3 });
  });

  it('ends in its only line break, with any fields', () => {
    expect(logged((log) => log.info({ text: 'a\nb' }, 'm'))).toMatch(/^[^\n]+\n$/);
  });

  it.each([
    { name: 'is dropped below the level', level: 'info' as const, want: ['info', 'warn', 'error'] },
    { name: 'is written at the level and above', level: 'debug' as const, want: ['debug', 'info', 'warn', 'error'] },
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

  it('has its stack unless it has a code', () => {
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

  it('has no other property', () => {
    const error = Object.assign(new Error('failed'), { request: { headers: { authorization: 'Bearer s3cret' } } });
    expect(JSON.stringify(lineOf({ error }))).not.toContain('s3cret');
  });

  it('survives a loop of causes', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(lineOf({ error })).toMatchObject({ error: { message: 'loop', cause: { message: 'loop' } } });
  });
});

describe('what others wrote', () => {
  const levels = ['json', 'pretty'] as const;
  const hostile = 'pod x\n{"level":"error","msg":"faked"}\u001b[2J\u009b2J\u202e\u2028';
  const written = (fields: LogFields, format: 'json' | 'pretty') => logged((log) => log.info(fields, 'm'), { format });

  it.each(levels)("can't control a terminal or begin a line (%s)", (format) => {
    const error = Object.assign(new Error(hostile, { cause: Object.assign(new Error(hostile), { code: 'X' }) }), {
      code: 'X',
    });
    const text = written({ text: hostile, [hostile]: 1, error, deep: { list: [hostile, new Error(hostile)] } }, format);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text).not.toMatch(/^ *\{"level":"error"/m);
  });

  it('is unchanged for programs that parse the line', () => {
    expect(lineOf({ text: hostile })).toMatchObject({ text: hostile });
  });

  it.each(levels)('is cut: a text to 1,024 characters, a line to some 8,000, at any nesting (%s)', (format) => {
    const long = 'x'.repeat(3_000_000);
    expect(written({ subject: long, reason: 'bad-address' }, format).length).toBeLessThan(1_200);
    expect(written({ subject: long, reason: 'bad-address' }, format)).toContain('bad-address');
    const many = Array.from({ length: 10_000 }, (_, i) => `10.0.${i}`);
    let nested: unknown = long;
    for (let depth = 0; depth < 1_000; depth++)
      nested = { [long]: nested, error: new Error(long, { cause: new Error(long) }) };
    for (const fields of [
      { many },
      { nested },
      Object.fromEntries(many.map((name) => [name, name])),
      {
        error: new AggregateError(
          many.map((text) => new Error(text)),
          long,
        ),
      },
    ]) {
      expect(written(fields, format).length).toBeLessThan(24_000);
    }
  });

  it('contains no credential of ours, even where it is cut', () => {
    const strip = (text: string): string => text.replaceAll('s3cret-s3cret-s3cret', '[redacted]');
    const log = (fields: LogFields): string => {
      let text = '';
      createLogger({ level: 'info', format: 'json', strip, destination: { write: (line) => (text += line) } }).info(
        fields,
        'm',
      );
      return text;
    };
    const echo = 'you sent s3cret-s3cret-s3cret';
    const error = Object.assign(new Error('list', { cause: new Error(echo) }), { code: 'X' });
    for (const fields of [
      { echo },
      { [echo]: 1 },
      { error },
      { list: [{ echo }] },
      { echo: `${'x'.repeat(1_010)}s3cret-s3cret-s3cret` },
    ]) {
      expect(log(fields)).not.toContain('s3cret');
    }
  });

  it('is written by its toJSON, which may hide a key', () => {
    expect(lineOf({ key: { secret: 1, toJSON: () => '[private key]' } })).toMatchObject({ key: '[private key]' });
  });
});

describe('a secret', () => {
  it.each([
    { name: 'at the top', fields: { token: 's3cret' } },
    { name: 'one level down', fields: { remote: { token: 's3cret', name: 'c2' } } },
    { name: 'two levels down', fields: { request: { headers: { authorization: 'Bearer s3cret' } } } },
    { name: 'deeper', fields: { a: { b: { c: { password: 's3cret' } } } } },
    { name: 'in a header as sent', fields: { headers: { Authorization: 'Bearer s3cret' } } },
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
    { name: 'json is JSON on a terminal, too', format: 'json' as const, isTTY: true, want: /^\{/ },
    { name: 'pretty is pretty without a terminal, too', format: 'pretty' as const, isTTY: false, want: /^\d\d:\d\d/ },
  ])('$name', ({ format, isTTY, want }) => {
    expect(logged((log) => log.info({}, 'm'), { format, isTTY })).toMatch(want);
  });
});
