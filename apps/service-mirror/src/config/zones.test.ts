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
    { name: 'one that is there twice once', zones: ['b', 'a', 'b'], want: ['b', 'a'] },
    { name: 'eight of which one is there twice', zones: [...EIGHT, 'a'], want: EIGHT },
  ])('takes $name', ({ zones, want }) => {
    expect(read(zones)).toEqual({ zones: want, problems: [] });
  });

  it('refuses what can not be, each where it is', () => {
    expect(read([...EIGHT, 'remote', '', 'a/b']).problems).toEqual([
      'localCluster.zones: there are 11, an endpoint can have hints of 8',
      'localCluster.zones[8]: "remote" is what endpoints of other clusters have for a zone',
      'localCluster.zones[9]: "" is no zone: a label has to hold it',
      'localCluster.zones[10]: "a/b" is no zone: a label has to hold it',
    ]);
  });
});
