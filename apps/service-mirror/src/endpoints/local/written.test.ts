import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as arbitrary from '../../../test/arbitraries.ts';
import { desiredMirror } from '../../services/desired/mirrors/mirror.ts';
import { writtenSlice } from './written.ts';

const where = { namespace: 'shop', service: 'web', name: 'web' };

it('a slice keeps the labels, annotations and finalizers of others, and has one owner, or none', () => {
  fc.assert(
    fc.property(
      arbitrary.service(where),
      arbitrary.slice(where),
      arbitrary.foreignMarks,
      fc.array(fc.string(), { minLength: 1 }),
      (service, slice, foreign, finalizers) => {
        const [to] = desiredMirror({ cluster: 'c2', prefix: 'c2', service, slices: [slice] }).slices;
        const from = { ...to!, ...foreign, finalizers, uid: 'u', resourceVersion: '1', owners: ['another'] };
        const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'x' };
        const { metadata } = writtenSlice(to!, from, { namespace: 'mirrors', owner });
        expect(metadata.labels).toEqual({ ...foreign.labels, ...to!.labels });
        expect(metadata.annotations).toEqual({ ...foreign.annotations, ...to!.annotations });
        expect(metadata.finalizers).toEqual(finalizers);
        expect(metadata.ownerReferences).toEqual([{ ...owner, controller: true }]);
        const none = writtenSlice(to!, from, { namespace: 'mirrors', owner: undefined });
        expect(none.metadata.ownerReferences).toEqual([]);
      },
    ),
  );
});
