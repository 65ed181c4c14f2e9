import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exported } from '../../../test/mcs/arbitraries.ts';
import { importInput, importInputs, sliceOf } from '../../../test/mcs/inputs.ts';
import { observedAs } from '../../../test/mcs/observed.ts';
import { desiredImport, type ImportInput } from './import.ts';
import type { ImportObjects } from './objects.ts';
import { sliceAfter } from './planned.ts';
import { retainedExports } from './retained.ts';

function wantedOf(input: ImportInput): ImportObjects {
  const { wanted } = desiredImport(input);
  if (typeof wanted === 'string') throw new Error(wanted);
  return wanted;
}

const own = { service: 'exported', present: [] } as const;
const conditionsOf = (input: ImportInput) =>
  desiredImport(input).conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('desiredImport', () => {
  it('is nothing if no cluster exports it (R2)', () => {
    expect(desiredImport(importInput([]))).toEqual({ wanted: 'nothing', conditions: undefined, diagnostics: [] });
  });

  it('is a ClusterSetIP with the Service that has its address (R3, R4, R5, R6, R8)', () => {
    const one = exported('c2', {
      definition: { affinitySeconds: 10, internalTrafficPolicy: 'Local', trafficDistribution: 'PreferClose' },
    });
    const { serviceImport: desired, service, status } = wantedOf(importInput([one]));
    expect(desired).toEqual({
      name: 'web',
      labels: { 'app.kubernetes.io/managed-by': 'semaphore-service-mirror' },
      annotations: { 'multicluster.kubernetes.io/derived-service': 'derived-isrlchlhrq' },
      spec: {
        type: 'ClusterSetIP',
        ports: [{ name: 'http', protocol: 'TCP', port: 80, appProtocol: undefined }],
        ips: [],
        families: ['IPv4'],
        affinitySeconds: 10,
        internalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
      },
    });
    expect(service).toMatchObject({
      name: 'derived-isrlchlhrq',
      labels: {
        'app.kubernetes.io/managed-by': 'semaphore-service-mirror',
        'multicluster.kubernetes.io/service-name': 'web',
      },
      definition: { headless: false, families: ['IPv4'], affinitySeconds: 10 },
      internalTrafficPolicy: 'Local',
    });
    expect(status).toMatchObject({ clusters: ['c2'], conditions: [{ status: 'True' }], sliceObjects: 'Present' });
  });

  it('is headless without Service and addresses, with slices beside it (R11, R12)', () => {
    const one = { ...exported('c2', { definition: { headless: true } }), slices: [sliceOf('web-1')] };
    const elsewhere = { placement: { namespace: 'mirrors', derived: 'gl-shop-73736d-web' } };
    for (const input of [importInput([one]), importInput([one], elsewhere)]) {
      const { serviceImport: desired, service, status, slices } = wantedOf(input);
      expect([desired.spec.type, desired.spec.ips, service, slices.length]).toEqual(['Headless', [], undefined, 1]);
      expect(desired.annotations).toEqual({});
      expect(status).toMatchObject({ conditions: [{ status: 'True' }], sliceObjects: 'Present' });
    }
  });

  it('names its Service only beside it, where others can find it', () => {
    const elsewhere = { placement: { namespace: 'mirrors', derived: 'gl-shop-73736d-web' } };
    const { serviceImport: desired, service, status } = wantedOf(importInput([exported('c2')], elsewhere));
    expect([desired.annotations, service?.name, status.sliceObjects]).toEqual([{}, 'gl-shop-73736d-web', 'Absent']);
  });

  it('has only exported labels and annotations, and of these the allowed ones (O1)', () => {
    const one = exported('c2', { labels: { team: 'a', 'x.io/b': '1' }, annotations: { note: 'n', 'k8s.io/x': '1' } });
    expect(wantedOf(importInput([one])).serviceImport).toMatchObject({
      labels: { team: 'a', 'x.io/b': '1', 'app.kubernetes.io/managed-by': 'semaphore-service-mirror' },
      annotations: { note: 'n' },
    });
    const { labels } = wantedOf(importInput([one], { prefixes: ['x.io/'] })).serviceImport;
    expect(Object.keys(labels)).toEqual(['x.io/b', 'app.kubernetes.io/managed-by']);
    expect(wantedOf(importInput([one])).service?.labels).not.toHaveProperty('team');
  });

  it.each([
    { families: ['IPv4'] as const, want: ['IPv4'], ready: 'True Ready' },
    { families: ['IPv4', 'IPv6'] as const, want: ['IPv6', 'IPv4'], ready: 'True Ready' },
    { families: undefined, want: ['IPv6', 'IPv4'], ready: 'True Ready' },
  ])('has an address in each family that the cluster has: $want of $families (R7)', ({ families, want, ready }) => {
    const one = exported('c2', { definition: { families: ['IPv6', 'IPv4'] } });
    const { service, status } = wantedOf(importInput([one], { families }));
    expect(service?.definition.families).toEqual(want);
    expect(status.conditions.map(({ status: is, reason }) => `${is} ${reason}`)).toEqual([ready]);
  });

  it('has no Service and no slices, and says so, if the cluster lacks all families', () => {
    const one = { ...exported('c2', { definition: { families: ['IPv6'] } }), slices: [sliceOf('web-1')] };
    const { service, slices, status, serviceImport: desired } = wantedOf(importInput([one], { families: ['IPv4'] }));
    expect([service, slices, desired.annotations]).toEqual([undefined, [], {}]);
    expect(status.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'IPFamilyNotSupported' }]);
  });

  it('skips a port whose name kube-proxy could not use, in the import as in the Service', () => {
    const long = {
      name: 'x'.repeat(63),
      protocol: 'TCP' as const,
      port: 81,
      targetPort: undefined,
      appProtocol: undefined,
    };
    const one = exported('c2', { definition: { ports: [...exported('c2').definition.ports, long] } });
    const placement = { namespace: 'n'.repeat(63), derived: 'derived-isrlchlhrq' };
    const input = { ...importInput([one], { placement }), namespace: placement.namespace };
    const { serviceImport: desired, service } = wantedOf(input);
    expect([desired.spec.ports, service?.definition.ports].map((ports) => ports?.map(({ name }) => name))).toEqual([
      ['http'],
      ['http'],
    ]);
    expect(desiredImport(input).diagnostics).toMatchObject([{ reason: 'port-name-too-long' }]);
  });

  describe('the local export', () => {
    const conflicting = [exported('c1'), exported('c2', { createdAt: 5, definition: { headless: true } })];

    it('has no conditions if there is none', () => {
      expect(desiredImport(importInput(conflicting)).conditions).toBeUndefined();
    });

    it.each([
      { what: 'the oldest', exporters: conflicting },
      { what: 'the younger', exporters: conflicting.map((each, i) => ({ ...each, createdAt: 9 - i })) },
    ])('reports a conflict also if it is $what (R14)', ({ exporters }) => {
      expect(conditionsOf(importInput(exporters, { own }))).toEqual([
        'Valid True Valid',
        'Ready True Ready',
        'Conflict True TypeConflict',
      ]);
    });

    it('without a Service is not valid, while others still make an import', () => {
      const input = importInput([exported('c2')], { own: { service: 'missing', present: [] } });
      expect(conditionsOf(input)?.[0]).toBe('Valid False NoService');
      expect(wantedOf(input).status.clusters).toEqual(['c2']);
    });

    it('of an ExternalName makes no import (R13)', () => {
      const input = importInput([], { own: { service: 'external-name', present: [] } });
      expect([desiredImport(input).wanted, conditionsOf(input)?.[0]]).toEqual([
        'nothing',
        'Valid False InvalidServiceType',
      ]);
    });

    it('has the same Conflict in every cluster', () => {
      fc.assert(
        fc.property(importInputs, (input) => {
          const seen = input.exporters.map(({ cluster }) => {
            const exporters = input.exporters.map((each) => ({ ...each, isLocal: each.cluster === cluster }));
            return desiredImport({ ...input, exporters, own }).conditions?.at(-1);
          });
          expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1);
        }),
      );
    });
  });

  it('does not depend on the order of exports or slices', () => {
    const permuted = importInputs.chain((input) =>
      fc.record({
        input: fc.constant(input),
        exporters: fc
          .shuffledSubarray([...input.exporters], { minLength: input.exporters.length })
          .map((exporters) => exporters.map((each) => ({ ...each, slices: each.slices.toReversed() }))),
      }),
    );
    fc.assert(
      fc.property(permuted, ({ input, exporters }) => {
        const { slicesOf, ...all } = desiredImport({ ...input, own });
        const { slicesOf: inThisOrder, ...again } = desiredImport({ ...input, exporters, own });
        expect(again).toEqual(all);
        const [one] = input.exporters;
        expect(one && inThisOrder?.(one)).toEqual(one && slicesOf?.(one));
      }),
    );
  });

  describe('with an unknown cluster', () => {
    it('keeps what it exported, its part in the status, and the conflicts with it', () => {
      fc.assert(
        fc.property(importInputs, fc.constantFrom('c1', 'c2', 'c3', 'c4'), (input, lost) => {
          const before = desiredImport({ ...input, own });
          if (typeof before.wanted === 'string') return;
          const { wanted } = before;
          const observed = observedAs(wanted);
          const retained = retainedExports({ observed, slices: wanted.slices.map(sliceAfter) }, [lost]);
          const present = before.conditions!.at(-1)!.reason.split(',');
          const after = desiredImport({
            ...input,
            exporters: input.exporters.filter(({ cluster }) => cluster !== lost),
            retained,
            own: { ...own, present },
          });
          if (typeof after.wanted === 'string') throw new Error(after.wanted);
          expect(after.wanted.status).toEqual(wanted.status);
          expect(after.wanted.serviceImport).toEqual(wanted.serviceImport);
          expect(after.wanted.slices).toEqual(wanted.slices);
          // The cluster may have had no part in it.
          const reason = after.conditions!.at(-1)!.reason;
          expect(retained.clusters.length === 0 || reason === present.join()).toBe(true);
        }),
      );
    });

    it('is unknown if nothing else is known of it', () => {
      const retained = { clusters: ['c2'], slices: [], existing: undefined };
      expect(desiredImport(importInput([], { retained })).wanted).toBe('unknown');
    });

    it('is nothing if the unknown cluster had no part in it', () => {
      expect(desiredImport(importInput([])).wanted).toBe('nothing');
    });
  });

  it('moves traffic from a stale cluster to one with ready endpoints, and never removes the last', () => {
    const stale = { ...exported('c2'), stale: 'remove' as const, slices: [sliceOf('web-1')] };
    const fresh = { ...exported('c3', { createdAt: 5 }), slices: [sliceOf('web-1')] };
    const clustersOf = (input: ImportInput) =>
      wantedOf(input).slices.map(({ labels }) => labels['multicluster.kubernetes.io/source-cluster']);
    expect(clustersOf(importInput([stale]))).toEqual(['c2']);
    expect(clustersOf(importInput([stale, fresh]))).toEqual(['c3']);
    expect(wantedOf(importInput([stale, fresh])).status.clusters).toEqual(['c2', 'c3']);
  });
});
