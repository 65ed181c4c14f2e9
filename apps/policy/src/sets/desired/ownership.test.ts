import { hash10 } from '@kube-semaphore/naming';
import { describe, expect, it } from 'vitest';
import { clusterOf, clusterOfFirstRelease, keysOf } from './ownership.ts';
import { domainsWith } from './labels.ts';

const OLD = 'semaphore.uw.systems';
const NEW = 'policy.semaphore.uw.io';
const GO = 'calico-global-network-sync-operator';
const identity = { domain: OLD, managedBy: GO };

describe('clusterOf', () => {
  it.each([
    {
      name: 'owns a set of ours',
      labels: { 'managed-by': GO, [`${OLD}/cluster`]: 'c2' },
      want: 'c2',
    },
    {
      name: 'owns a set of another Go release, under another domain',
      labels: { 'managed-by': 'semaphore-policy', [`${NEW}/cluster`]: 'c3' },
      want: 'c3',
    },
    {
      name: 'owns a set of any cluster',
      labels: { 'managed-by': GO, [`${OLD}/cluster`]: 'c9' },
      want: 'c9',
    },
    { name: 'does not own a set without managed-by', labels: { [`${OLD}/cluster`]: 'c2' }, want: undefined },
    {
      name: 'does not own a set of another writer',
      labels: { 'managed-by': 'helm', [`${OLD}/cluster`]: 'c2' },
      want: undefined,
    },
    { name: 'does not own a set without a cluster', labels: { 'managed-by': GO }, want: undefined },
    {
      name: 'does not own a set under an unknown domain',
      labels: { 'managed-by': GO, 'example.com/cluster': 'c2' },
      want: undefined,
    },
    {
      name: 'assigns a set with two clusters to one of them, always the same',
      labels: { 'managed-by': GO, [`${NEW}/cluster`]: 'c3', [`${OLD}/cluster`]: 'c2' },
      want: 'c2',
    },
  ])('$name', ({ labels, want }) => {
    expect(clusterOf(labels, identity)).toBe(want);
  });

  it('owns a set with the writer and domain in our flags', () => {
    const own = { domain: 'example.com', managedBy: 'mine' };
    const labels = { 'managed-by': 'mine', 'example.com/cluster': 'c2' };
    expect(clusterOf(labels, own)).toBe('c2');
  });
});

describe('keysOf', () => {
  const labels = { [`${OLD}/name`]: 'app', [`${OLD}/namespace`]: 'ns', [`${OLD}/cluster`]: 'c2' };

  it.each([
    { name: 'is one key if labels and name agree', set: { name: 'c2-ns-app', labels }, want: ['c2-ns-app'] },
    {
      name: 'is one key for a shard',
      set: { name: `c2-ns-app-${hash10('c2', 'ns', 'app')}-s3`, labels },
      want: ['c2-ns-app'],
    },
    {
      name: 'is two keys for a copy',
      set: { name: 'a-copy', labels },
      want: ['a-copy', 'c2-ns-app'],
    },
    {
      name: 'is that of the name if the labels name no pair',
      set: { name: 'c2-ns-app', labels: { [`${OLD}/cluster`]: 'c2' } },
      want: ['c2-ns-app'],
    },
    {
      name: 'are those of the name and of the pair if the cluster was edited',
      set: { name: 'c2-ns-app', labels: { ...labels, [`${OLD}/cluster`]: 'c3' } },
      want: ['c2-ns-app', 'c3-ns-app'],
    },
  ])('$name', ({ set, want }) => {
    expect(keysOf(set, domainsWith(identity.domain))).toEqual(want);
  });
});

describe('clusterOfFirstRelease', () => {
  const labels = { 'managed-by': GO, 'remote-cluster-name': 'c2', name: 'app', namespace: 'default' };

  it('is the cluster of a set of v0.1.0', () => {
    expect(clusterOfFirstRelease(labels)).toBe('c2');
    expect(clusterOf(labels, identity)).toBeUndefined();
  });

  it.each([
    { name: 'a set of ours with such labels', of: { ...labels, [`${OLD}/cluster`]: 'c2' } },
    { name: 'a set of another writer', of: { ...labels, 'managed-by': 'argocd' } },
    { name: 'a set of a later release', of: { 'managed-by': GO, [`${OLD}/cluster`]: 'c2' } },
  ])('is undefined for $name', ({ of }) => {
    expect(clusterOfFirstRelease(of)).toBeUndefined();
  });
});
