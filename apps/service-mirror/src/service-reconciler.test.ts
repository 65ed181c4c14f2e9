import { KubeApiError } from '@kube-semaphore/kube-client';
import { describe, expect, it } from 'vitest';
import type { Change } from './change.ts';
import type { DesiredObjects } from './desired.ts';
import type { ObservedEndpoints } from './observed.ts';
import { ServiceReconciler, type Target } from './service-reconciler.ts';

const name = 'c2-ns-73736d-web';
const key = 'c2/ns/web';
const conditions = { ready: true, serving: undefined, terminating: undefined };
const endpoint = { addresses: ['10.4.0.1'], conditions, hostname: undefined, target: undefined, nodeName: undefined, zone: undefined, zones: undefined };

const wantedWith = (endpoints: DesiredObjects['slices'][number]['endpoints']): DesiredObjects => ({
  service: { name, labels: {}, annotations: {}, definition: { headless: false, families: ['IPv4'], ports: [], affinitySeconds: undefined, publishNotReadyAddresses: false } },
  slices: [{ name: `${name}-1`, labels: {}, annotations: {}, family: 'IPv4', ports: [], endpoints }],
});
const endpointsWith = (addresses: readonly string[], labels = { ours: 'true' } as Readonly<Record<string, string>>): ObservedEndpoints => ({ name, uid: 'e', resourceVersion: '1', labels, addresses });
const written = { metadata: { name, uid: 's' } };

type Setting = { readonly wanted: Target['wanted']; readonly keepsEndpoints?: boolean; readonly endpoints?: ObservedEndpoints; readonly refused?: Change['kind']; readonly taken?: Change['kind'] };

/** What one look at a key does, and fails of, where there is no Service yet, and maybe Endpoints that a Go program left. */
async function lookAt({ wanted, keepsEndpoints = false, endpoints, refused, taken }: Setting): Promise<{ readonly changes: readonly Change['kind'][]; readonly failure: unknown }> {
  const changes: Change['kind'][] = [];
  const reconciler = new ServiceReconciler({
    local: { synced: true, service: () => undefined, slices: () => [], endpoints: () => endpoints },
    target: () => ({ name, isOurs: (labels) => labels['ours'] === 'true', wanted, keepsStale: false, keepsEndpoints, notices: [] }),
    claimants: () => [],
    sources: () => [],
    write: async (change) => {
      if (change.kind === refused) throw new KubeApiError('invalid', { status: 422 });
      if (change.kind === taken) throw new KubeApiError('it is there', { status: 409, reason: 'AlreadyExists' });
      changes.push(change.kind);
      return change.kind === 'create-service' ? (written as never) : undefined;
    },
    onNotices: () => {},
  });
  const failure = await reconciler.reconcile(key, { signal: new AbortController().signal, since: 0 }).then(() => undefined, (error: unknown) => error);
  return { changes, failure };
}

describe('Endpoints that a Go program left', () => {
  const left = endpointsWith(['10.4.0.1']);
  const filled = wantedWith([endpoint]);
  const empty = wantedWith([]);

  it.each<{ name: string; setting: Setting; goes: boolean }>([
    { name: 'go when our slices are there', setting: { wanted: filled, endpoints: left }, goes: true },
    { name: 'go when our slices are there, also while the source is doubted', setting: { wanted: filled, endpoints: left, keepsEndpoints: true }, goes: true },
    { name: 'stay while the source is doubted and has no endpoint', setting: { wanted: empty, endpoints: left, keepsEndpoints: true }, goes: false },
    { name: 'stay while the source is doubted and has none that is ready', setting: { wanted: wantedWith([{ ...endpoint, conditions: { ...conditions, ready: false } }]), endpoints: left, keepsEndpoints: true }, goes: false },
    { name: 'go when the source is believed to have no endpoint', setting: { wanted: empty, endpoints: left }, goes: true },
    { name: 'go if they have no address themselves', setting: { wanted: empty, endpoints: endpointsWith([]), keepsEndpoints: true }, goes: true },
    { name: 'go with their source', setting: { wanted: 'nothing', endpoints: left, keepsEndpoints: true }, goes: true },
    { name: 'stay when nobody knows of their source', setting: { wanted: 'unknown', endpoints: left }, goes: false },
    { name: 'stay when a slice of ours was refused', setting: { wanted: filled, endpoints: left, refused: 'create-slice' }, goes: false },
    { name: 'stay when somebody else has the name of a slice of ours', setting: { wanted: filled, endpoints: left, taken: 'create-slice' }, goes: false },
    { name: 'stay if they are another process\'s', setting: { wanted: filled, endpoints: endpointsWith(['10.4.0.1'], {}) }, goes: false },
  ])('$name', async ({ setting, goes }) => {
    expect((await lookAt(setting)).changes.includes('delete-endpoints')).toBe(goes);
  });

  it('go after what takes their place', async () => {
    expect(await lookAt({ wanted: filled, endpoints: left })).toEqual({ changes: ['create-service', 'create-slice', 'delete-endpoints'], failure: undefined });
  });

  it('are not the only thing that waits for a Service that was refused', async () => {
    expect(await lookAt({ wanted: filled, endpoints: left, refused: 'create-service' })).toEqual({ changes: [], failure: undefined });
  });
});

it('a slice whose name somebody else has is tried again, for nothing tells when it goes; one that is refused is not', async () => {
  const wanted = wantedWith([endpoint]);
  expect(await lookAt({ wanted, taken: 'create-slice' })).toMatchObject({ changes: ['create-service'], failure: { status: 409 } });
  expect(await lookAt({ wanted, refused: 'create-slice' })).toEqual({ changes: ['create-service'], failure: undefined });
});
