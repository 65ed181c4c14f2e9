import fc from 'fast-check';
import { everyLabel, global, type Group, mirror } from './cases.ts';
import type { Labels, Version } from './refusals.ts';

const labels = fc.subarray(Object.entries(everyLabel)).map((entries): Labels => Object.fromEntries(entries));
const version: fc.Arbitrary<Version> = fc.record({
  labels,
  isExternal: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const change = fc.record({
  namespace: fc.constantFrom('a', 'shop', 'a-rather-long-namespace'),
  length: fc.integer({ min: 24, max: 63 }),
  before: fc.option(version, { freq: 1, nil: undefined }),
  after: version,
});

// The same each time, so that a failure can be reproduced.
const sample = fc.sample(fc.noBias(change), { numRuns: 150, seed: 63 });

/** Changes of all kinds, with names from well below to well above the limit; a third of them are refused. */
export const generated: Group = {
  name: 'whatever there is',
  parameters: { prefixes: ['c2', 'europe'], matchLabels: mirror, globalMatchLabels: global },
  cases: sample.map(({ length, ...rest }, i) => ({
    name: `number ${i}`,
    service: `g${i}`.padEnd(length, 'x'),
    ...rest,
  })),
};
