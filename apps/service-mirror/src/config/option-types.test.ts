import { describe, expect, it } from 'vitest';
import { clusterName, namespace, onlyPrefix, selector, servicePrefix } from './option-types.ts';

describe('the types of options', () => {
  it.each([
    { name: 'a cluster has a name of the README of the Go program', type: clusterName, raw: 'clusterA' },
    { name: 'a cluster has a name of the tests of the Go program', type: clusterName, raw: 'remote_cluster_1' },
    { name: 'a cluster has 63 characters', type: clusterName, raw: 'a'.repeat(63) },
    { name: 'a prefix has hyphens inside', type: servicePrefix, raw: 'cluster-1' },
    { name: 'a prefix begins like that of global services', type: servicePrefix, raw: 'glasgow' },
    { name: 'a prefix of a remote with a name is global', type: servicePrefix, raw: 'global' },
    { name: 'the only prefix is a word', type: onlyPrefix, raw: 'target' },
    { name: 'a namespace begins with a digit', type: namespace, raw: '0-sys' },
    { name: 'a selector compares', type: selector, raw: 'mirror.semaphore.uw.io/mirror-service=true' },
    { name: 'a selector asks for a label', type: selector, raw: 'mirror,!internal' },
  ])('$name', ({ type, raw }) => {
    expect(type.parse(raw)).toEqual({ ok: true, value: raw });
  });

  it.each([
    { name: 'a cluster has a name', type: clusterName, raw: '' },
    { name: 'a cluster has at most 63 characters', type: clusterName, raw: 'a'.repeat(64) },
    { name: 'a cluster has no slash', type: clusterName, raw: 'a/b' },
    { name: 'a cluster does not have the name of keys of global services', type: clusterName, raw: 'global' },
    { name: 'a prefix is not that of global services', type: servicePrefix, raw: 'gl' },
    { name: 'a prefix does not begin with that of global services', type: servicePrefix, raw: 'gl-a' },
    { name: 'a prefix does not begin with a digit', type: servicePrefix, raw: '1a' },
    { name: 'a prefix has no capitals', type: servicePrefix, raw: 'cluster-A' },
    { name: 'a prefix leaves room for a name', type: servicePrefix, raw: 'a'.repeat(60) },
    { name: 'the only prefix is not that of global services', type: onlyPrefix, raw: 'gl' },
    { name: 'the only prefix names a cluster', type: onlyPrefix, raw: 'global' },
    { name: 'a namespace has no dot', type: namespace, raw: 'a.b' },
    { name: 'a selector has no empty key', type: selector, raw: '=true' },
  ])('$name', ({ type, raw }) => {
    expect(type.parse(raw)).toMatchObject({ ok: false });
  });
});
