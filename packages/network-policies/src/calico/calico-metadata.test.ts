import { calicoMetadataAnnotation } from '../names.ts';
import { describe, expect, it } from 'vitest';
import { effectiveLabels, hasCalicoMetadata, withoutCalicoMetadata } from './calico-metadata.ts';

const stored = (metadata: unknown) => ({ [calicoMetadataAnnotation]: JSON.stringify(metadata) });

describe('effectiveLabels', () => {
  it.each([
    { name: 'are the labels without the annotation', labels: { a: '1' }, annotations: {}, want: { a: '1' } },
    {
      name: 'are those in the annotation of a writer through v3',
      labels: {},
      annotations: stored({ labels: { a: '1' } }),
      want: { a: '1' },
    },
    {
      name: 'are those in the annotation if both have one',
      labels: { a: '1', b: '1' },
      annotations: stored({ labels: { a: '2' } }),
      want: { a: '2', b: '1' },
    },
    { name: 'skip a label that is not a text', labels: {}, annotations: stored({ labels: { a: 1 } }), want: {} },
    {
      name: 'are the labels if the annotation is not JSON',
      labels: { a: '1' },
      annotations: { [calicoMetadataAnnotation]: '{' },
      want: { a: '1' },
    },
    {
      name: 'are the labels if the annotation is not an object',
      labels: { a: '1' },
      annotations: stored(null),
      want: { a: '1' },
    },
  ])('$name', ({ labels, annotations, want }) => {
    expect(effectiveLabels(labels, annotations)).toEqual(want);
  });
});

describe('withoutCalicoMetadata', () => {
  it.each([
    { name: 'keeps other annotations', annotations: { note: 'mine' }, want: { note: 'mine' } },
    { name: 'drops the annotation', annotations: { note: 'mine', ...stored({}) }, want: { note: 'mine' } },
    {
      name: 'keeps the annotations inside it',
      annotations: { note: 'mine', ...stored({ annotations: { owner: 'team-a' } }) },
      want: { note: 'mine', owner: 'team-a' },
    },
  ])('$name', ({ annotations, want }) => {
    expect(withoutCalicoMetadata(annotations)).toEqual(want);
    expect(hasCalicoMetadata(withoutCalicoMetadata(annotations))).toBe(false);
  });
});
