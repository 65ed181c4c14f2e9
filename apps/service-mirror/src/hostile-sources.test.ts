import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indigestible } from '../test/support/digestible.ts';
import { hostileService, hostileSlice } from '../test/support/hostile-sources.ts';
import type { Change } from './endpoints/desired/diff/change.ts';
import { globalTarget } from './services/desired/globals/target.ts';
import { mirrorTarget } from './services/desired/mirrors/target.ts';
import { readService } from './endpoints/remote/read-service.ts';
import { readSlice } from './endpoints/remote/read-slice.ts';
import { ServiceReconciler } from './services/reconciler.ts';
import type { Target } from './endpoints/desired/target.ts';
import { noDecisions } from '../test/support/plain-cluster.ts';

const mirrorNamespace = 'sys-semaphore';
const codecs = { service: new Codec(serviceKind), slice: new Codec(endpointSliceKind) };

/** The longest name with the prefix and the namespace. */
const name = 's'.repeat(63 - 'c2-default-73736d-'.length);
const at = { namespace: 'default', name };
const hostile = fc.record({ service: hostileService(name), slices: fc.array(hostileSlice([name]), { maxLength: 5 }) });

function sourceOf({ service, slices }: { readonly service: KubeObject; readonly slices: readonly KubeObject[] }) {
  const read = readService(codecs.service.objectFromJson(service), { isLocalFirst: () => false }).value;
  const readSlices = slices.flatMap(
    (slice) =>
      readSlice(codecs.slice.objectFromJson(slice), { addresses: { allowed: undefined, local: [] }, isLocal: false })
        .value ?? [],
  );
  return { known: true, service: read, slices: readSlices, skipped: [] };
}

/** Everything that would be written to an empty mirror namespace. */
function writesOf(target: Target): readonly Change[] {
  const local = {
    isSynced: () => true,
    service: () => undefined,
    slice: () => undefined,
    slices: () => [],
    endpoints: () => undefined,
  };
  const write = () => Promise.reject(new Error('a plan writes nothing'));
  return new ServiceReconciler({
    local,
    decisions: noDecisions,
    targets: { target: () => target, part: () => undefined },
    keys: { claimants: () => [], sourcesOf: () => [], forgetSeen: () => undefined },
    write,
    clusters: { diagnose: () => {} },
  }).plan('c2/default/x');
}

const problemsOf = (writes: readonly Change[]): readonly string[] =>
  writes.flatMap((change) => indigestible(change, mirrorNamespace));

describe('anything that a remote has', () => {
  it('becomes a mirror that kube-proxy, CoreDNS and the API server accept', () => {
    const common = {
      cluster: 'c2',
      prefix: 'c2',
      mirrorNamespace,
      families: undefined,
      prefixes: ['c2'],
      retainsUnseen: false,
      retainsEndpoints: false,
    };
    let written = 0;
    fc.assert(
      fc.property(hostile, (objects) => {
        const writes = writesOf(mirrorTarget(at, { ...common, source: sourceOf(objects) }));
        written += writes.length;
        expect(problemsOf(writes)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    // Not only because everything is skipped.
    expect(written).toBeGreaterThan(500);
  });

  it('so is a global Service that several of them share', () => {
    const common = {
      local: { service: () => undefined, slices: () => [] },
      mirrorNamespace,
      families: undefined,
      retainsUnseen: false,
      hints: 'always',
      zones: ['z1'],
      routing: {
        local: 'c1',
        properties: new Map(),
        order: undefined,
        hasAllZones: true,
        down: new Map(),
        nowMs: 0,
      },
    } as const;
    fc.assert(
      fc.property(hostile, hostile, (ofC2, ofC3) => {
        const clusters = [ofC2, ofC3].map(
          (objects, i) => ({ cluster: `c${i + 2}`, isLocal: false, stale: 'no', source: sourceOf(objects) }) as const,
        );
        expect(problemsOf(writesOf(globalTarget(at, { ...common, clusters })))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
