import { describe, expect, it } from 'vitest';
import { matcher, type RequestFilter } from './filter.ts';

const list = { method: 'GET', target: '/api/v1/pods?limit=500', verb: 'list' };
const watch = { method: 'GET', target: '/api/v1/pods?watch=true', verb: 'watch' };
const update = { method: 'PUT', target: '/api/v1/namespaces/a/services/b', verb: 'update' };

describe('matcher', () => {
  it.each<{ name: string; filter: RequestFilter; want: object[] }>([
    { name: 'matches all requests if empty', filter: {}, want: [list, watch, update] },
    { name: 'compares the method', filter: { method: 'PUT' }, want: [update] },
    { name: 'distinguishes a watch from a list', filter: { verb: 'watch' }, want: [watch] },
    { name: 'searches the path and the query', filter: { target: /pods.*limit=/ }, want: [list] },
    { name: 'requires all its fields', filter: { method: 'GET', target: /services/ }, want: [] },
  ])('$name', ({ filter, want }) => {
    expect([list, watch, update].filter(matcher(filter))).toEqual(want);
  });

  it('counts matching requests only', () => {
    const strikes = matcher({ verb: 'watch', every: 3, times: 2 });
    const struck = Array.from({ length: 12 }, () => (strikes(list), strikes(watch)));
    expect(struck.flatMap((hit, index) => (hit ? [index + 1] : []))).toEqual([3, 6]);
  });
});
