import { describe, expect, it } from 'vitest';
import { clusterName, labelDomain, labelValue } from './option-types.ts';

describe('the types of options', () => {
  it.each([
    { name: 'a cluster has a hyphen inside', type: clusterName, raw: 'prod-1' },
    { name: 'a cluster has 63 characters', type: clusterName, raw: 'a'.repeat(63) },
    { name: 'a cluster has a dot inside', type: clusterName, raw: 'prod.eu' },
    { name: 'a domain is one of the Go programs', type: labelDomain, raw: 'policy.semaphore.uw.io' },
    { name: 'a domain is auto', type: labelDomain, raw: 'auto' },
    { name: 'a value has capitals and underscores', type: labelValue, raw: 'Semaphore_Policy.v1' },
  ])('$name', ({ type, raw }) => {
    expect(type.parse(raw)).toEqual({ ok: true, value: raw });
  });

  it.each([
    { name: 'a cluster has at most 63 characters', type: clusterName, raw: 'a'.repeat(64) },
    { name: 'a cluster has no capitals', type: clusterName, raw: 'Prod' },
    { name: 'a cluster has no underscore', type: clusterName, raw: 'my_cluster' },
    { name: 'a cluster does not begin with a hyphen', type: clusterName, raw: '-a' },
    { name: 'a cluster does not end in a dot', type: clusterName, raw: 'a.' },
    { name: 'a cluster has no slash', type: clusterName, raw: 'a/b' },
    { name: 'a domain has no slash', type: labelDomain, raw: 'semaphore.uw.systems/' },
    { name: 'a value does not end in a hyphen', type: labelValue, raw: 'a-' },
    { name: 'a value has at most 63 characters', type: labelValue, raw: 'a'.repeat(64) },
    { name: 'a value has no space', type: labelValue, raw: 'a b' },
  ])('$name', ({ type, raw }) => {
    expect(type.parse(raw)).toMatchObject({ ok: false });
  });
});
