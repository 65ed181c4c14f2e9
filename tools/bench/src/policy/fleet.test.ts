import { describe, expect, it } from 'vitest';
import { expectedNets, Fleet, type FleetSize, MOST_REMOTES, netOf, setOf } from './fleet.ts';

describe('Fleet', () => {
  it('spreads its pods evenly over the sets', () => {
    const { members } = new Fleet({ pods: 1000, sets: 30 });
    const sizes = [...expectedNets(members).values()].map(({ size }) => size);
    expect(sizes).toHaveLength(30);
    expect(new Set(sizes)).toEqual(new Set([33, 34]));
  });

  it('has neighbouring pods in distinct sets', () => {
    const { members } = new Fleet({ pods: 1000, sets: 30 });
    for (const start of [0, 7, 950]) {
      expect(new Set(members.slice(start, start + 30).map(setOf)).size).toBe(30);
    }
  });

  it('has the wanted number of label sets', () => {
    const labelSetsOf = (size: FleetSize) => {
      const fleet = new Fleet(size);
      return new Set(fleet.members.map((member) => JSON.stringify(fleet.object(member).metadata.labels))).size;
    };
    expect(labelSetsOf({ pods: 1000, sets: 30 })).toBe(30);
    expect(labelSetsOf({ pods: 1000, sets: 30, labelSets: 120 })).toBe(120);
  });

  it('never gives an address twice', () => {
    const fleet = new Fleet({ pods: 50_000, sets: 500 });
    const addresses = new Set(fleet.members.map(({ ip }) => ip)).add(fleet.nextAddress()).add(fleet.nextAddress());
    expect(addresses.size).toBe(50_002);
  });

  it('shares nothing with the fleets of other remotes', () => {
    const fleets = Array.from({ length: MOST_REMOTES }, (_, remote) => new Fleet({ pods: 50_000, sets: 500 }, remote));
    const members = fleets.flatMap((fleet) => fleet.members);
    expect(new Set(members.map(({ ip }) => ip)).size).toBe(MOST_REMOTES * 50_000);
    expect(expectedNets(members).size).toBe(MOST_REMOTES * 500);
    expect(new Set(members.map(({ namespace, ip }) => `${namespace.length} ${ip.length}`)).size).toBe(1);
  });

  it('has texts of equal length in all its pods', () => {
    const { members } = new Fleet({ pods: 50_000, sets: 500 });
    const lengths = members.map(({ namespace, name, app, ip }) =>
      [namespace, name, app, ip].map(({ length }) => length).join(),
    );
    expect(new Set(lengths).size).toBe(1);
  });

  it('adds pods without addresses', () => {
    const fleet = new Fleet({ pods: 1, sets: 1 });
    const recruits = fleet.recruit('rollout', 2);
    expect(recruits.map(setOf)).toEqual(['team-00/rollout', 'team-00/rollout']);
    expect(fleet.object(recruits[0]!)['status']).not.toHaveProperty('podIP');
  });
});

it('makes pods of 15 kB', () => {
  const fleet = new Fleet({ pods: 1, sets: 1 });
  const [member] = fleet.members;
  const object = fleet.object(member!);
  expect(JSON.stringify(object).length).toBeGreaterThan(14_900);
  expect(object['status']).toMatchObject({ phase: 'Running', podIP: member!.ip });
});

it('expects the present addresses of its pods in a set', () => {
  const fleet = new Fleet({ pods: 3, sets: 2 });
  const [first, second, third] = fleet.members as [Fleet['members'][0], Fleet['members'][0], Fleet['members'][0]];
  first.ip = fleet.nextAddress();
  expect(expectedNets(fleet.members)).toEqual(
    new Map([
      ['team-00/app-00000', new Set([netOf(first), netOf(third)])],
      ['team-01/app-00001', new Set([netOf(second)])],
    ]),
  );
});
