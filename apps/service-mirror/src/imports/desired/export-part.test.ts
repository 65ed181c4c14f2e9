import { describe, expect, it } from 'vitest';
import type { Endpoint, SourceSlice } from '../../endpoints/desired/source.ts';
import { type ExportPart, gatedPart, NO_PART } from './export-part.ts';

const READY = { ready: true, serving: true, terminating: false };
const endpoint = (address: string): Endpoint => ({
  address,
  otherAddresses: undefined,
  conditions: READY,
  hostname: undefined,
  nodeName: undefined,
  zone: undefined,
  zones: undefined,
});
const slice: SourceSlice = {
  uid: 'u',
  namespace: 'shop',
  name: 'web-a',
  service: 'web',
  family: 'IPv4',
  ports: [],
  endpoints: [endpoint('10.4.0.1')],
  nodes: ['m1'],
};

describe('the part of a cluster with an endpoint on a silent node', () => {
  const part = (headless: boolean): ExportPart => ({
    exporter: {
      cluster: 'c2',
      isLocal: false,
      stale: 'no',
      createdAt: 1,
      labels: {},
      annotations: {},
      definition: { headless } as NonNullable<ExportPart['exporter']>['definition'],
      slices: [slice],
    },
    diagnostics: [],
  });
  const conditions = ({ exporter }: ExportPart) =>
    exporter?.slices.flatMap(({ endpoints }) => endpoints[0]!.conditions);

  it('has it used last, unless it is the last one of a headless import', () => {
    const silent = new Set(['m1']);
    expect(conditions(gatedPart(part(false), silent))).toEqual([{ ready: false, serving: true, terminating: true }]);
    expect(conditions(gatedPart(part(true), silent))).toEqual([READY]);
  });

  it('is the same if none is silent, or it has none', () => {
    const given = part(false);
    expect(gatedPart(given, new Set())).toBe(given);
    expect(gatedPart(NO_PART, new Set(['m1']))).toBe(NO_PART);
  });
});
