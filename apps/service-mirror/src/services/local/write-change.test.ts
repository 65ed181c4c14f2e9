import { KubeApiError } from '@kube-semaphore/kube-client';
import { Codec, endpointSliceKind } from '@kube-semaphore/kube-objects';
import { sliceManagedByLabel, sliceManager, sourceAnnotation } from '../../names.ts';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { ObservedSlice } from '../../endpoints/desired/observed.ts';
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

/** Makes a change. @returns `stored`: calls of the stores */
async function make(change: Change, writer: Partial<WriteTargets['writer']>) {
  const stored: string[] = [];
  const store = (what: string) => () => void stored.push(what);
  const targets: WriteTargets = {
    writer: {
      createService: never,
      updateService: never,
      readSlice: never,
      createSlice: never,
      updateSlice: never,
      delete: never,
      ...writer,
    },
    local: {
      wroteService: store('service'),
      writeSlice: async (_, write) => {
        await write();
        stored.push('slice');
      },
      replacedService: store('service replaced'),
      deletedSlice: store('no slice'),
      deletedEndpoints: store('no endpoints'),
      recheck: store('recheck'),
    },
  };
  const { signal } = new AbortController();
  const result = await writeChange(change, targets, { signal }).catch((error: unknown) => error);
  return { stored, result };
}

/** Creates a slice while another one with its name exists, or existed a moment ago. */
function createOver(there: Pick<ObservedSlice, 'labels' | 'annotations'> | undefined) {
  let tries = 0;
  return make(
    { kind: 'create-slice', to, owner: { name: 'web', uid: 'u' } },
    {
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
  );
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

it.each([
  { kind: 'delete-service', stored: [] },
  { kind: 'delete-slice', stored: ['no slice'] },
  { kind: 'delete-endpoints', stored: ['no endpoints'] },
] as const)(
  'writeChange, for a $kind, says to the stores what is gone, except for a Service that may end later',
  async ({ kind, stored }) => {
    const change = { kind, from: { name: 'a' } } as Change;
    expect(await make(change, { delete: () => Promise.resolve() })).toEqual({ stored, result: undefined });
  },
);
