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
    { name: 'leaves it to Pods if there is no set', sets: [], flags: auto, want: { ok: true, value: undefined } },
    {
      name: 'leaves it to Pods if a flag names only the writer',
      sets: [],
      flags: { labelDomain: 'auto', managedBy: 'mine' },
      want: { ok: true, value: undefined },
    },
    { name: 'uses the identity of the sets', sets: [set(NEW, LATER)], flags: auto, want: found(NEW, LATER) },
    {
      name: 'ignores sets of other clusters',
      sets: [set(NEW, LATER, 'c3'), set(OLD, GO)],
      flags: auto,
      want: found(OLD, GO),
    },
    {
      name: 'ignores sets of other writers',
      sets: [set(NEW, 'helm'), set(NEW, 'auto'), set(OLD, GO)],
      flags: auto,
      want: found(OLD, GO),
    },
    {
      name: 'uses the flags if there is no set',
      sets: [],
      flags: { labelDomain: 'example.com', managedBy: 'mine' },
      want: found('example.com', 'mine'),
    },
    {
      name: 'uses the flags if sets differ, to relabel them',
      sets: [set(OLD, GO)],
      flags: { labelDomain: NEW, managedBy: LATER },
      want: found(NEW, LATER),
    },
    {
      name: 'uses the flags if sets have two identities',
      sets: [set(OLD, GO), set(NEW, LATER)],
      flags: { labelDomain: NEW, managedBy: LATER },
      want: found(NEW, LATER),
    },
    {
      name: 'uses the writer of the domain in a flag',
      sets: [set(OLD, GO), set(NEW, LATER)],
      flags: { labelDomain: NEW, managedBy: 'auto' },
      want: found(NEW, LATER),
    },
    {
      name: 'uses the writer of all sets if none has the domain in a flag',
      sets: [set(OLD, LATER)],
      flags: { labelDomain: NEW, managedBy: 'auto' },
      want: found(NEW, LATER),
    },
    {
      name: 'knows a writer that is only in a flag',
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
      name: 'refuses to choose between two writers',
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

  it('does not depend on the order of sets', () => {
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
