import { describe, expect, it } from 'vitest';
import { usesOf } from './promql-uses.ts';

const names = (query: string) => usesOf(query).selectors.map(({ series }) => series);

describe('usesOf', () => {
  it.each([
    { name: 'a series', query: 'up', want: ['up'] },
    { name: 'a recorded series', query: 'job:up:sum', want: ['job:up:sum'] },
    { name: 'an argument', query: 'rate(a_total[5m])', want: ['a_total'] },
    { name: 'both sides of an operator', query: 'a / on (job) group_left b', want: ['a', 'b'] },
    { name: 'operands of set operators', query: 'a and b or c unless d', want: ['a', 'b', 'c', 'd'] },
    { name: 'an aggregation with its labels in front', query: 'sum by (job) (a)', want: ['a'] },
    { name: 'an aggregation with its labels behind', query: 'sum(a) without (job)', want: ['a'] },
    { name: 'a series with the name of a function', query: 'sum + rate', want: ['sum', 'rate'] },
    { name: 'both sides of a comparison', query: 'a > bool 1e-3 == b', want: ['a', 'b'] },
    { name: 'offset and @', query: 'a offset 5m - a @ end()', want: ['a', 'a'] },
    { name: 'a subquery', query: 'max_over_time(rate(a[5m])[1h:30s])', want: ['a'] },
    { name: 'no comment and no string', query: 'a # b\n + count_values("c", d)', want: ['a', 'd'] },
    { name: 'no series in time()', query: 'time() - a', want: ['a'] },
  ])('finds $name', ({ query, want }) => {
    expect(names(query)).toEqual(want);
  });

  it.each([
    {
      name: 'every operator',
      query: `a{b="1", c!='2', d=~"3|4", e!~\`5\`}`,
      want: ['b = 1', 'c != 2', 'd =~ 3|4', 'e !~ 5'],
    },
    { name: 'a comma at the end', query: 'a{b="1",}', want: ['b = 1'] },
    { name: 'braces and quotes in a string', query: 'a{b="}\\",c=\\"1"}', want: ['b = }",c="1'] },
    { name: 'a comment among them', query: 'a{b="1" # c="2"\n}', want: ['b = 1'] },
    { name: 'a label in quotes', query: `a{"b.c"='1'}`, want: ['b.c = 1'] },
    { name: 'none', query: 'a{}', want: [] },
  ])('reads matchers: $name', ({ query, want }) => {
    expect(
      usesOf(query).selectors.flatMap(({ matchers }) =>
        matchers.map(({ label, operator, value }) => `${label} ${operator} ${value}`),
      ),
    ).toEqual(want);
  });

  it('finds the labels of groupings', () => {
    expect(usesOf('sum by (a, b) (x) * on (c) group_left (d) sum without (e) (y)').groupings).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
  });

  it.each([
    { name: 'a series without a name', query: '{job="a"}' },
    { name: 'a function that writes labels', query: 'label_replace(a, "b", "$1", "c", "(.*)")' },
    { name: 'an open brace', query: 'a{b="c"' },
    { name: 'an invalid matcher', query: 'a{b="c" d}' },
    { name: 'an unknown operator', query: 'a ? b' },
    { name: 'an open string', query: 'a{b="c}' },
    { name: 'an open parenthesis', query: 'rate(a[5m]' },
    { name: 'two series side by side', query: 'a b' },
    { name: 'an unknown function', query: 'rates(a[5m])' },
    { name: 'an invalid duration', query: 'rate(a[$interval])' },
  ])('refuses $name', ({ query }) => {
    expect(() => usesOf(query)).toThrow(SyntaxError);
  });
});
