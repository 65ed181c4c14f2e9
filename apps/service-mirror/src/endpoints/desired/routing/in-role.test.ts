import { describe, expect, it } from 'vitest';
import type { DesiredSlice } from '../objects.ts';
import type { Endpoint } from '../source.ts';
import { inRole, withoutRole } from './in-role.ts';

const hints = { local: ['a', 'b'], remote: ['remote'] };

const endpoint = (ready: boolean, serving: boolean, terminating: boolean): Endpoint => ({
  address: '10.4.0.1',
  otherAddresses: undefined,
  conditions: { ready, serving, terminating },
  hostname: 'web-0',
  nodeName: undefined,
  zone: undefined,
  zones: undefined,
});

const sliceOf = (...endpoints: readonly Endpoint[]): DesiredSlice => ({
  name: 'gl-a',
  labels: {},
  annotations: { source: 'c2/shop/web' },
  family: 'IPv4',
  ports: [],
  endpoints,
});

const ready = endpoint(true, true, false);
const terminating = endpoint(false, true, true);
const notReady = endpoint(false, false, false);
/** With `publishNotReadyAddresses`. */
const published = endpoint(true, false, false);
const all = sliceOf(ready, terminating, notReady, published);

/** The conditions as digits, and the hints. */
const textsOf = ({ endpoints }: DesiredSlice) =>
  endpoints.map(
    ({ conditions, zones = ['none'] }) =>
      `${[conditions.ready, conditions.serving, conditions.terminating].map(Number).join('')} ${zones.join()}`,
  );

describe('inRole', () => {
  it.each([
    { role: 'first', want: ['110 a,b', '011 remote', '000 remote', '100 a,b'] },
    { role: 'second', want: ['110 remote', '011 remote', '000 remote', '100 remote'] },
    { role: 'standby', want: ['011 remote', '011 remote', '000 remote', '000 remote'] },
  ] as const)('writes endpoints of the $role', ({ role, want }) => {
    expect(textsOf(inRole(all, role, hints))).toEqual(want);
  });

  it('keeps everything else', () => {
    expect(inRole(sliceOf(ready), 'second', undefined)).toEqual(sliceOf(ready));
  });

  it.each([
    { name: 'with a ready endpoint', slice: all, isMarked: true },
    { name: 'without endpoints', slice: sliceOf(), isMarked: false },
    { name: 'whose conditions stay', slice: sliceOf(terminating, notReady), isMarked: false },
  ])('marks the slice of a standby $name: $isMarked', ({ slice, isMarked }) => {
    const { annotations } = inRole(slice, 'standby', hints);
    expect(annotations).toEqual({ source: 'c2/shop/web', ...(isMarked && { 'mirror-svc-standby': 'true' }) });
    expect(inRole(slice, 'first', hints).annotations).toEqual({ source: 'c2/shop/web' });
  });
});

describe('withoutRole', () => {
  it('takes the standbys of a marked slice for ready again', () => {
    const { annotations, ...restored } = withoutRole(inRole(sliceOf(ready, notReady), 'standby', hints));
    expect(annotations).toEqual({ source: 'c2/shop/web' });
    expect(textsOf({ ...sliceOf(), ...restored })).toEqual(['110 remote', '000 remote']);
  });

  it('leaves a slice without the mark as it is', () => {
    expect(withoutRole(all)).toBe(all);
  });
});
