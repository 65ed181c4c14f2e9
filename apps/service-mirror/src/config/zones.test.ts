import { describe, expect, it } from 'vitest';
import { Findings } from './problems.ts';
import { zonesOf } from './zones.ts';

const EIGHT = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

function read(zones: readonly string[]) {
  const findings = new Findings();
  return { zones: zonesOf(zones, findings), problems: findings.problems };
}

describe('zonesOf', () => {
  it.each([
    { name: 'none', zones: [], want: [] },
    { name: 'eight', zones: EIGHT, want: EIGHT },
    { name: 'a repeated zone once', zones: ['b', 'a', 'b'], want: ['b', 'a'] },
    { name: 'eight zones, one of them repeated', zones: [...EIGHT, 'a'], want: EIGHT },
  ])('takes $name', ({ zones, want }) => {
    expect(read(zones)).toEqual({ zones: want, problems: [] });
  });

  it('refuses invalid zones, each with its place', () => {
    expect(read([...EIGHT, 'remote', '', 'a/b']).problems).toEqual([
      'localCluster.zones: 11 zones are too many: an endpoint can have at most 8 hints',
      'localCluster.zones[8]: "remote" is reserved for endpoints of other clusters',
      'localCluster.zones[9]: "" is not a valid zone: it must be a label value',
      'localCluster.zones[10]: "a/b" is not a valid zone: it must be a label value',
    ]);
  });
});
