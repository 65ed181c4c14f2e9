import { expect, it } from 'vitest';
import { toMarkdown, toText } from './table.ts';

const table = [
  ['', 'ours', 'theirs', ''],
  ['time', '1.0 s', '10.0 s', ''],
  ['requests', 'get 1 | put 2', '', ''],
];

it('aligns a table for a terminal, without empty columns', () => {
  expect(toText(table)).toBe(
    ['                   ours  theirs', 'time              1.0 s  10.0 s', 'requests  get 1 | put 2'].join('\n'),
  );
});

it('renders a table as Markdown', () => {
  expect(toMarkdown(table)).toBe(
    [
      '|          |           ours | theirs |',
      '| -------- | -------------: | -----: |',
      '| time     |          1.0 s | 10.0 s |',
      '| requests | get 1 \\| put 2 |        |',
    ].join('\n'),
  );
});
