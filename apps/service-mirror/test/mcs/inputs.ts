import fc from 'fast-check';
import type { Exporter, ImportInput } from '../../src/imports/desired/import.ts';
import type { Export } from '../../src/imports/desired/export.ts';
import type { SourceSlice } from '../../src/endpoints/desired/source.ts';
import { slice } from '../arbitraries.ts';
import { exportsOfClusters } from './arbitraries.ts';

/** What decides about the import `shop/web`, with nothing retained, in a cluster `c1` with both families. */
export const importInput = (
  exporters: readonly (Export & Partial<Pick<Exporter, 'stale' | 'slices'>>)[],
  more: Partial<ImportInput> = {},
): ImportInput => ({
  namespace: 'shop',
  name: 'web',
  exporters: exporters.map((each) => ({ stale: 'no', slices: [], isLocal: each.cluster === 'c1', ...each })),
  retained: { clusters: [], slices: [], existing: undefined },
  orphans: { clusters: [], slices: [] },
  own: undefined,
  prefixes: undefined,
  families: ['IPv4', 'IPv6'],
  placement: { namespace: 'shop', derived: 'derived-isrlchlhrq' },
  localFirst: false,
  routing: { local: 'c1', properties: new Map(), order: undefined, hasAllZones: true, down: new Map(), nowMs: 0 },
  zones: ['a'],
  ...more,
});

/** A slice of `shop/web` with one ready endpoint. */
export const sliceOf = (name: string, more: Partial<SourceSlice> = {}): SourceSlice => ({
  uid: 'u',
  namespace: 'shop',
  name,
  service: 'web',
  family: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: undefined }],
  endpoints: [
    {
      address: '10.4.0.1',
      otherAddresses: undefined,
      conditions: { ready: true, serving: true, terminating: false },
      hostname: undefined,
      nodeName: undefined,
      zone: undefined,
      zones: undefined,
    },
  ],
  ...more,
});

const slices = fc.uniqueArray(slice({ namespace: 'shop', service: 'web' }), {
  selector: ({ name }) => name,
  maxLength: 3,
});

/** Random exports of `shop/web` with their slices, in a cluster with any families. */
export const importInputs: fc.Arbitrary<ImportInput> = fc
  .record({
    exports: exportsOfClusters,
    each: fc.array(slices, { minLength: 4, maxLength: 4 }),
    families: fc.constantFrom<ImportInput['families']>(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], undefined),
  })
  .map(({ exports, each, families }) =>
    importInput(
      exports.map((one, i) => ({ ...one, slices: each[i]! })),
      { families },
    ),
  );
