import { describe, expect, it } from 'vitest';
import { sliceOf } from '../../../test/mcs/inputs.ts';
import type { ObservedSlice } from '../desired/observed.ts';
import { OwnWrites } from './own-writes.ts';

const { name, family, ports, endpoints } = sliceOf('web-a');
const labels = { 'mirror-svc-cluster': 'c2' };
const to = { name, labels, annotations: {}, family, ports, endpoints };
const change = { kind: 'create-slice', to, owner: { name: 'web', uid: 'u' } } as const;
const answer: ObservedSlice = { ...to, uid: 'x', resourceVersion: '7', owners: ['u'], finalizers: undefined };
const key = 'mirrors/web-a';
const other = endpoints.map((each) => ({ ...each, address: '10.4.9.9' }));

describe('a slice that is being written', () => {
  it.each<{ name: string; key?: string; current: ObservedSlice | undefined; made: boolean }>([
    { name: 'has become what is written', current: answer, made: true },
    { name: 'has labels of others besides', current: { ...answer, labels: { ...labels, team: 'shop' } }, made: true },
    { name: 'has other endpoints', current: { ...answer, endpoints: other }, made: false },
    { name: 'lacks a label of ours', current: { ...answer, labels: {} }, made: false },
    { name: 'has another owner', current: { ...answer, owners: ['v'] }, made: false },
    { name: 'has ports that a server changed', current: { ...answer, ports: [] }, made: false },
    { name: 'was deleted', current: undefined, made: false },
    { name: 'is another one', key: 'mirrors/web-b', current: { ...answer, name: 'web-b' }, made: false },
  ])('$name', async ({ key: of = key, current, made }) => {
    const writes = new OwnWrites();
    const during = () => Promise.resolve(writes.made({ key: of, previous: undefined, current }));
    expect(await writes.during(key, change, during)).toBe(made);
  });

  it('is one of others as soon as its write has ended, also without success', async () => {
    const writes = new OwnWrites();
    expect(writes.endpoints(key)).toBeUndefined();
    const failing = writes.during(key, change, () => Promise.reject(new Error('conflict')));
    expect(writes.endpoints(key)).toBe(endpoints);
    await expect(failing).rejects.toThrow('conflict');
    expect(writes.endpoints(key)).toBeUndefined();
    expect(writes.made({ key, previous: undefined, current: answer })).toBe(false);
  });
});
