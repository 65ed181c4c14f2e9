import { calicoMetadataAnnotation } from '@kube-semaphore/network-policies';
import { describe, expect, it } from 'vitest';
import { isSameSet, observedSet } from './network-set.ts';

const set = {
  name: 'c2-ns-app',
  uid: 'u1',
  resourceVersion: '7',
  labels: { a: '1', b: '2' },
  annotations: { note: 'mine' },
  ownerReferences: [{ kind: 'ConfigMap', uid: 'u2' }],
  finalizers: ['example.com/keep'],
  nets: ['10.0.0.1/32', '10.0.0.2/32'],
};

describe('observedSet', () => {
  it('reads the labels that Calico uses', () => {
    const { labels, nets, ...identity } = set;
    const annotations = { [calicoMetadataAnnotation]: JSON.stringify({ labels }) };
    const metadata = { ...identity, namespace: '', labels: {}, annotations };
    expect(observedSet({ metadata, spec: { nets } })).toEqual({ ...set, annotations });
  });
});

describe('isSameSet', () => {
  it.each([
    { name: 'ignores the resourceVersion', other: { ...set, resourceVersion: '8' }, want: true },
    { name: 'ignores the order of labels', other: { ...set, labels: { b: '2', a: '1' } }, want: true },
    { name: 'sees another object of the same name', other: { ...set, uid: 'u9' }, want: false },
    { name: 'sees a label', other: { ...set, labels: { a: '1', c: '2' } }, want: false },
    { name: 'sees an annotation', other: { ...set, annotations: {} }, want: false },
    { name: 'sees a net', other: { ...set, nets: ['10.0.0.1/32', '10.0.0.3/32'] }, want: false },
    { name: 'sees a net that is listed twice', other: { ...set, nets: [...set.nets, '10.0.0.2/32'] }, want: false },
    { name: 'sees a finalizer', other: { ...set, finalizers: undefined }, want: false },
  ])('$name', ({ other, want }) => {
    expect(isSameSet(set, other)).toBe(want);
  });
});
