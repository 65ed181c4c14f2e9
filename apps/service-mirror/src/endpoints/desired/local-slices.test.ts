import { describe, expect, it } from 'vitest';
import { localSlices } from './local-slices.ts';
import type { Endpoint, SourceSlice } from './source.ts';

const endpoint = (address: string, hostname?: string): Endpoint => ({
  address,
  otherAddresses: undefined,
  conditions: { ready: true, serving: true, terminating: false },
  hostname,
  nodeName: undefined,
  zone: undefined,
  zones: undefined,
});
const port = (name: string, number: number | undefined) =>
  ({ name, protocol: 'TCP', port: number, appProtocol: undefined }) as const;
const slice = (parts: Partial<SourceSlice>): SourceSlice => ({
  uid: 'u',
  namespace: 'shop',
  name: 'web-a',
  service: 'web',
  family: 'IPv4',
  ports: [port('http', 80)],
  endpoints: [],
  ...parts,
});

describe('the slices of a headless Service', () => {
  it('have the names of Pods as hostnames, where there are none', () => {
    const endpoints = [endpoint('10.4.0.1'), endpoint('10.4.0.2', 'db-0'), endpoint('10.4.0.3')];
    const { slices } = localSlices([slice({ endpoints, pods: ['web-1', 'web-2', ''] })], { headless: true });
    expect(slices[0]!.endpoints.map(({ address, hostname }) => `${address} ${hostname}`)).toEqual([
      '10.4.0.1 web-1',
      '10.4.0.2 db-0',
      '10.4.0.3 undefined',
    ]);
  });

  it('may have ports without a number', () => {
    const all = slice({ ports: [port('all', undefined)] });
    expect(localSlices([all], { headless: true })).toEqual({ slices: [all], skipped: [] });
  });
});

describe('the slices of a Service with an address', () => {
  it('are the same ones, without the names of Pods', () => {
    const own = [slice({ endpoints: [endpoint('10.4.0.1')], pods: ['web-1'] })];
    expect(localSlices(own, { headless: false }).slices).toBe(own);
  });

  it('lack ports without a number, and a slice that has no other port', () => {
    const [some, none, bare] = [
      slice({ ports: [port('http', 80), port('all', undefined)] }),
      slice({ name: 'web-b', ports: [port('all', undefined)] }),
      slice({ name: 'web-c', ports: [] }),
    ];
    const { slices, skipped } = localSlices([some, none, bare], { headless: false });
    expect(slices).toEqual([{ ...some, ports: [port('http', 80)] }, bare]);
    expect(skipped).toMatchObject([
      {
        kind: 'problem',
        reason: 'bad-port',
        detail: 'its slice shop/web-a has a port without a number, which is skipped',
      },
      {
        kind: 'problem',
        reason: 'bad-port',
        detail: 'its slice shop/web-b has only ports without a number, so it is skipped',
      },
    ]);
  });
});
