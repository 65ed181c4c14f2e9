import { describe, expect, it } from 'vitest';
import { prettyLine } from './pretty-line.ts';

const head = { level: 'info', time: '2026-01-02T03:04:05.678Z', msg: 'peer added' };

const line = (fields: object, { colors } = { colors: false }) =>
  prettyLine(JSON.stringify({ ...head, ...fields }), { colors });

describe('prettyLine', () => {
  it.each([
    { name: 'begins with time, level and message', fields: {}, want: '03:04:05.678 INFO  peer added\n' },
    {
      name: 'writes a word without quotes',
      fields: { remote: 'c2' },
      want: '03:04:05.678 INFO  peer added remote=c2\n',
    },
    { name: 'quotes text with a space', fields: { a: 'b c' }, want: '03:04:05.678 INFO  peer added a="b c"\n' },
    { name: 'quotes an empty text', fields: { a: '' }, want: '03:04:05.678 INFO  peer added a=""\n' },
    { name: 'writes objects as JSON', fields: { a: { b: 1 } }, want: '03:04:05.678 INFO  peer added a={"b":1}\n' },
    { name: 'escapes control sequences', fields: { a: '\u001b[2J' }, want: /a="\\u001b\[2J"\n$/ },
    { name: 'escapes control sequences of one byte', fields: { a: '\u009b2J' }, want: /a="\\u009b2J"\n$/ },
  ])('$name', ({ fields, want }) => {
    expect(line(fields)).toMatch(want);
  });

  it('puts the stacks of an error and its causes below', () => {
    const cause = { type: 'Error', message: 'inner', stack: 'Error: inner\n    at b' };
    const error = { type: 'Error', message: 'outer', stack: 'Error: outer\n    at \u001b[2Ja', cause };
    expect(line({ error })).toBe(
      [
        '03:04:05.678 INFO  peer added error=outer',
        '    Error: outer',
        '    at \\u001b[2Ja',
        '    caused by Error: inner',
        '    at b',
        '',
      ].join('\n'),
    );
  });

  it('puts an error with a code into one line, with its causes below', () => {
    const error = {
      type: 'ConnectionError',
      message: 'c2: aborted',
      code: 'KUBE_CONNECTION',
      cause: { type: 'Error', message: 'ECONNRESET', code: 'ECONNRESET' },
    };
    expect(line({ error })).toBe('03:04:05.678 INFO  peer added error="c2: aborted"\n    caused by ECONNRESET\n');
  });

  it('colors the level if colors are on', () => {
    expect(line({}, { colors: true })).toContain('\u001b[32mINFO \u001b[39m');
  });
});
