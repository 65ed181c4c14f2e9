import { describe, expect, it } from 'vitest';
import { matcher, type RequestFilter } from './filter.ts';

const list = { method: 'GET', target: '/api/v1/pods?limit=500', verb: 'list' };
const watch = { method: 'GET', target: '/api/v1/pods?watch=true', verb: 'watch' };
const update = { method: 'PUT', target: '/api/v1/namespaces/a/services/b', verb: 'update' };

describe('matcher', () => {
  it.each<{ name: string; filter: RequestFilter; want: object[] }>([
    { name: 'lets all through that says nothing', filter: {}, want: [list, watch, update] },
    { name: 'tells methods apart', filter: { method: 'PUT' }, want: [update] },
    { name: 'tells a watch from a list', filter: { verb: 'watch' }, want: [watch] },
    { name: 'looks into the path and the query', filter: { target: /pods.*limit=/ }, want: [list] },
    { name: 'wants everything that it says', filter: { method: 'GET', target: /services/ }, want: [] },
  ])('$name', ({ filter, want }) => {
    expect([list, watch, update].filter(matcher(filter))).toEqual(want);
  });

  it('counts what fits, and nothing else', () => {
    const strikes = matcher({ verb: 'watch', every: 3, times: 2 });
    const struck = Array.from({ length: 12 }, () => (strikes(list), strikes(watch)));
    expect(struck.flatMap((hit, index) => (hit ? [index + 1] : []))).toEqual([3, 6]);
  });
});
