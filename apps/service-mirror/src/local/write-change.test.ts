import { KubeApiError } from '@kube-semaphore/kube-client';
import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { sliceManagedByLabel, sliceManager, sourceAnnotation } from '../names.ts';
import { describe, expect, it } from 'vitest';
import type { ObservedSlice } from '../desired/observed.ts';
import { writeChange, type WriteTargets } from './write-change.ts';

const labels = { [sliceManagedByLabel]: sliceManager };
const annotations = { [sourceAnnotation]: 'c2/ns/web-a' };
const content = { name: 'a', family: 'IPv4', ports: [], endpoints: [] } as const;
const to = { ...content, labels, annotations };
const written = new Codec(endpointSliceKind).objectFromJson({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'a' },
  addressType: 'IPv4',
});

const never = () => Promise.reject(new Error('not asked for'));

/** Creates a slice while another one with its name exists, or existed a moment ago. @returns `stored`: calls of the stores */
async function createOver(there: Pick<ObservedSlice, 'labels' | 'annotations'> | undefined) {
  const stored: string[] = [];
  let tries = 0;
  const store = (what: string) => () => void stored.push(what);
  const targets: WriteTargets = {
    writer: {
      createService: never,
      updateService: never,
      delete: never,
      createSlice: () =>
        ++tries === 2
          ? Promise.resolve(written)
          : Promise.reject(new KubeApiError('it is there', { status: 409, reason: 'AlreadyExists' })),
      readSlice: () =>
        there === undefined
          ? Promise.reject(new KubeApiError('it is gone', { status: 404, reason: 'NotFound' }))
          : Promise.resolve({ ...content, ...there, uid: 'u', resourceVersion: '1', owners: [] }),
      updateSlice: () => Promise.resolve(written),
    },
    local: {
      wroteService: store('service'),
      writeSlice: async (_, write) => {
        await write();
        stored.push('slice');
      },
      deletedSlice: store('no slice'),
      deletedEndpoints: store('no endpoints'),
      recheck: store('recheck'),
    },
  };
  const result = await writeChange({ kind: 'create-slice', to, owner: { name: 'web', uid: 'u' } }, targets, {
    signal: new AbortController().signal,
  }).catch((error: unknown) => error);
  return { stored, result };
}

describe('writeChange, for a slice that already exists', () => {
  it('updates one that lost its labels', async () => {
    expect(await createOver({ labels: {}, annotations })).toEqual({ stored: ['slice'], result: undefined });
  });

  it('updates one that a list missed, and lists everything again', async () => {
    expect(await createOver({ labels, annotations })).toEqual({ stored: ['recheck', 'slice'], result: undefined });
  });

  it('creates one that was deleted meanwhile', async () => {
    expect(await createOver(undefined)).toEqual({ stored: ['slice'], result: undefined });
  });

  it.each([
    { what: 'of another source', annotations: { [sourceAnnotation]: 'c3/ns/web-a' } },
    { what: 'without a source', annotations: {} },
  ])('leaves one $what alone', async (there) => {
    expect(await createOver({ labels: {}, ...there })).toMatchObject({
      stored: [],
      result: { reason: 'AlreadyExists' },
    });
  });
});
