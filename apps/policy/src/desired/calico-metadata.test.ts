import { calicoMetadataAnnotation } from '../names.ts';
import { describe, expect, it } from 'vitest';
import { effectiveLabels, hasCalicoMetadata, withoutCalicoMetadata } from './calico-metadata.ts';

const stored = (metadata: unknown) => ({ [calicoMetadataAnnotation]: JSON.stringify(metadata) });

describe('effectiveLabels', () => {
  it.each([
    { name: 'are the labels where there is no annotation', labels: { a: '1' }, annotations: {}, want: { a: '1' } },
    {
      name: 'are in the annotation where a writer through v3 left it',
      labels: {},
      annotations: stored({ labels: { a: '1' } }),
      want: { a: '1' },
    },
    {
      name: 'are those of the annotation where both name one',
      labels: { a: '1', b: '1' },
      annotations: stored({ labels: { a: '2' } }),
      want: { a: '2', b: '1' },
    },
    { name: 'take no label that is no text', labels: {}, annotations: stored({ labels: { a: 1 } }), want: {} },
    {
      name: 'are the labels where the annotation is no JSON',
      labels: { a: '1' },
      annotations: { [calicoMetadataAnnotation]: '{' },
      want: { a: '1' },
    },
    {
      name: 'are the labels where the annotation is no object',
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
    { name: 'keeps what is no business of Calico', annotations: { note: 'mine' }, want: { note: 'mine' } },
    { name: 'drops the annotation', annotations: { note: 'mine', ...stored({}) }, want: { note: 'mine' } },
    {
      name: 'brings the annotations inside it to light',
      annotations: { note: 'mine', ...stored({ annotations: { owner: 'team-a' } }) },
      want: { note: 'mine', owner: 'team-a' },
    },
  ])('$name', ({ annotations, want }) => {
    expect(withoutCalicoMetadata(annotations)).toEqual(want);
    expect(hasCalicoMetadata(withoutCalicoMetadata(annotations))).toBe(false);
  });
});
