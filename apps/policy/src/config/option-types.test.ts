import { describe, expect, it } from 'vitest';
import { clusterName, labelDomain, labelKey, labelSelector, labelValue } from './option-types.ts';

describe('the types of options', () => {
  it.each([
    { name: 'a cluster has a hyphen inside', type: clusterName, raw: 'prod-1' },
    { name: 'a cluster has 63 characters', type: clusterName, raw: 'a'.repeat(63) },
    { name: 'a cluster has a dot inside', type: clusterName, raw: 'prod.eu' },
    { name: 'a domain is one of the Go programs', type: labelDomain, raw: 'policy.semaphore.uw.io' },
    { name: 'a domain is auto', type: labelDomain, raw: 'auto' },
    { name: 'a value has capitals and underscores', type: labelValue, raw: 'Semaphore_Policy.v1' },
    { name: 'a key has a domain', type: labelKey, raw: 'clusterset.k8s.io/cluster-name' },
    { name: 'a selector has equalities', type: labelSelector, raw: 'app=web,tier!=db,example.org/a==b' },
    { name: 'a selector has keys alone', type: labelSelector, raw: 'app,!tier' },
    { name: 'a selector has lists', type: labelSelector, raw: 'app in (web, db),tier notin (x)' },
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
    { name: 'a key needs a domain', type: labelKey, raw: 'cluster' },
    { name: 'a key needs a name', type: labelKey, raw: 'example.org/' },
    { name: 'a key has one slash', type: labelKey, raw: 'example.org/a/b' },
    { name: 'a selector is not empty', type: labelSelector, raw: '' },
    { name: 'a selector has no two operators', type: labelSelector, raw: 'a=b=c' },
    { name: 'a selector has no open list', type: labelSelector, raw: 'a in (b' },
    { name: 'a selector does not end in a comma', type: labelSelector, raw: 'a,' },
  ])('$name', ({ type, raw }) => {
    expect(type.parse(raw)).toMatchObject({ ok: false });
  });
});
