import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectIdentity, identityOfDomain } from './identity.ts';

const OLD = 'semaphore.uw.systems';
const NEW = 'policy.semaphore.uw.io';
const GO = 'calico-global-network-sync-operator';
const LATER = 'semaphore-policy';

const set = (domain: string, managedBy: string, cluster = 'c2') => ({
  labels: { 'managed-by': managedBy, [`${domain}/cluster`]: cluster },
});
const auto = { labelDomain: 'auto', managedBy: 'auto' };
const found = (domain: string, managedBy: string) => ({ ok: true, value: { domain, managedBy } });

describe('detectIdentity', () => {
  it.each([
    { name: 'leaves it to Pods where there is no set', sets: [], flags: auto, want: { ok: true, value: undefined } },
    {
      name: 'leaves it to Pods where a flag names the writer alone',
      sets: [],
      flags: { labelDomain: 'auto', managedBy: 'mine' },
      want: { ok: true, value: undefined },
    },
    { name: 'takes what the sets have', sets: [set(NEW, LATER)], flags: auto, want: found(NEW, LATER) },
    {
      name: 'overlooks sets of other clusters',
      sets: [set(NEW, LATER, 'c3'), set(OLD, GO)],
      flags: auto,
      want: found(OLD, GO),
    },
    {
      name: 'overlooks sets of other writers',
      sets: [set(NEW, 'helm'), set(NEW, 'auto'), set(OLD, GO)],
      flags: auto,
      want: found(OLD, GO),
    },
    {
      name: 'does as the flags say where there is no set',
      sets: [],
      flags: { labelDomain: 'example.com', managedBy: 'mine' },
      want: found('example.com', 'mine'),
    },
    {
      name: 'does as the flags say where sets say otherwise, to relabel them',
      sets: [set(OLD, GO)],
      flags: { labelDomain: NEW, managedBy: LATER },
      want: found(NEW, LATER),
    },
    {
      name: 'does as the flags say where sets say two things',
      sets: [set(OLD, GO), set(NEW, LATER)],
      flags: { labelDomain: NEW, managedBy: LATER },
      want: found(NEW, LATER),
    },
    {
      name: 'takes the writer of the domain that a flag names',
      sets: [set(OLD, GO), set(NEW, LATER)],
      flags: { labelDomain: NEW, managedBy: 'auto' },
      want: found(NEW, LATER),
    },
    {
      name: 'takes the writer of all sets where none has the domain that a flag names',
      sets: [set(OLD, LATER)],
      flags: { labelDomain: NEW, managedBy: 'auto' },
      want: found(NEW, LATER),
    },
    {
      name: 'knows a writer that only a flag names',
      sets: [set(NEW, 'mine'), set(OLD, GO)],
      flags: { labelDomain: 'auto', managedBy: 'mine' },
      want: found(NEW, 'mine'),
    },
    {
      name: 'refuses to choose between two identities',
      sets: [set(NEW, LATER), set(OLD, GO), set(OLD, GO)],
      flags: auto,
      want: {
        ok: false,
        reason:
          `the sets of cluster c2 have (${NEW}, ${LATER}) and (${OLD}, ${GO}): ` +
          'choose one with -label-domain and -managed-by',
      },
    },
    {
      name: 'refuses to choose between what a flag leaves open',
      sets: [set(OLD, LATER), set(OLD, GO)],
      flags: { labelDomain: NEW, managedBy: 'auto' },
      want: {
        ok: false,
        reason:
          `the sets of cluster c2 have (${NEW}, ${GO}) and (${NEW}, ${LATER}): ` +
          'choose one with -label-domain and -managed-by',
      },
    },
  ])('$name', ({ sets, flags, want }) => {
    expect(detectIdentity(sets, 'c2', flags)).toEqual(want);
  });

  it('says the same whatever order the sets come in', () => {
    const anySet = fc
      .tuple(fc.constantFrom(OLD, NEW), fc.constantFrom(GO, LATER), fc.constantFrom('c2', 'c3'))
      .map((of) => set(...of));
    fc.assert(
      fc.property(fc.array(anySet), (sets) => {
        expect(detectIdentity(sets.toReversed(), 'c2', auto)).toEqual(detectIdentity(sets, 'c2', auto));
      }),
    );
  });
});

describe('identityOfDomain', () => {
  it.each([
    { domain: OLD, flags: auto, managedBy: GO },
    { domain: NEW, flags: auto, managedBy: LATER },
    { domain: NEW, flags: { labelDomain: 'auto', managedBy: 'mine' }, managedBy: 'mine' },
  ])('writes $managedBy with $domain', ({ domain, flags, managedBy }) => {
    expect(identityOfDomain(domain, flags)).toEqual({ domain, managedBy });
  });
});
