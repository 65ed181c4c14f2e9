import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergedByRules } from '../../../test/mcs/rules.ts';
import { exported, exportsOfClusters } from '../../../test/mcs/arbitraries.ts';
import { YOUNGEST } from '../../endpoints/desired/source.ts';
import { mergeExports, retainExports } from './merge-exports.ts';

const port = (name: string, number: number, more = {}) => ({
  name,
  protocol: 'TCP' as const,
  port: number,
  targetPort: undefined,
  appProtocol: undefined,
  ...more,
});
const http = port('http', 80);

const reasons = ({ conflicts }: ReturnType<typeof mergeExports>) => conflicts.map(({ reason }) => reason);

describe('mergeExports', () => {
  it('takes one export as it is, without the targets of its ports', () => {
    const one = exported('c1', { definition: { ports: [port('http', 80, { targetPort: 8080 })] } });
    expect(mergeExports([one])).toMatchObject({
      definition: { ...one.definition, ports: [http] },
      conflicts: [],
      oldest: 'c1',
      diagnostics: [],
    });
  });

  it.each([
    { what: 'age', a: { createdAt: 2 }, b: { createdAt: 1 }, oldest: 'c2' },
    { what: "the cluster's name at the same age", a: { createdAt: 1 }, b: { createdAt: 1 }, oldest: 'c1' },
    { what: 'any age before one that is held', a: { createdAt: YOUNGEST }, b: { createdAt: 9 }, oldest: 'c2' },
  ])('decides by $what', ({ a, b, oldest }) => {
    const merged = mergeExports([
      exported('c1', { ...a, definition: { headless: true } }),
      exported('c2', { ...b, definition: { headless: false } }),
    ]);
    expect([merged.oldest, merged.definition.headless]).toEqual([oldest, oldest === 'c1']);
  });

  describe('ports', () => {
    const merge = (older: (typeof http)[], younger: (typeof http)[]) =>
      mergeExports([
        exported('c1', { definition: { ports: older } }),
        exported('c2', { definition: { ports: younger } }),
      ]);

    it('are a union, and any difference is a conflict (R9)', () => {
      const sctp = port('stcp', 142, { protocol: 'SCTP' });
      const merged = merge([http], [http, sctp]);
      expect(merged.definition.ports).toEqual([http, sctp]);
      expect(merged.conflicts).toEqual([{ reason: 'PortConflict', field: 'ports', clusters: ['c2'] }]);
    });

    it('of one name are that of the oldest, and the other cluster gets no traffic there (R10)', () => {
      const merged = merge([http], [port('http', 81)]);
      expect(merged.definition.ports).toEqual([http]);
      expect(merged.portNames.get('c2')).toEqual(new Map([['http', undefined]]));
      expect(reasons(merged)).toEqual(['PortConflict']);
    });

    it('of one number are one port, under the name that the oldest gives it', () => {
      const merged = merge([http], [port('web', 80)]);
      expect(merged.definition.ports).toEqual([http]);
      expect(merged.portNames.get('c2')).toEqual(new Map([['web', 'http']]));
      expect(reasons(merged)).toEqual(['PortConflict']);
    });

    it('may have other targets, or another order, without a conflict', () => {
      const dns = port('dns', 53);
      expect(reasons(merge([http, dns], [dns, { ...http, targetPort: 9090 as never }]))).toEqual([]);
    });

    it('conflict if they differ in nothing but appProtocol', () => {
      expect(reasons(merge([http], [{ ...http, appProtocol: 'h2c' as never }]))).toEqual(['PortConflict']);
    });
  });

  it.each([
    { field: 'type', want: ['TypeConflict'], other: { definition: { headless: true } } },
    {
      field: 'sessionAffinity',
      want: ['SessionAffinityConflict', 'SessionAffinityConfigConflict'],
      other: { definition: { affinitySeconds: undefined } },
    },
    {
      field: 'sessionAffinityConfig',
      want: ['SessionAffinityConfigConflict'],
      other: { definition: { affinitySeconds: 20 } },
    },
    { field: 'exportedAnnotations', want: ['AnnotationsConflict'], other: { annotations: { a: '2' } } },
    { field: 'exportedLabels', want: ['LabelsConflict'], other: { labels: { b: '1' } } },
    {
      field: 'internalTrafficPolicy',
      want: ['InternalTrafficPolicyConflict'],
      other: { definition: { internalTrafficPolicy: 'Local' as const } },
    },
    {
      field: 'trafficDistribution',
      want: ['TrafficDistributionConflict'],
      other: { definition: { trafficDistribution: undefined } },
    },
  ])('takes $field from the oldest, and reports $want', ({ want, other }) => {
    const oldest = exported('c1', {
      labels: { a: '1' },
      annotations: { a: '1' },
      definition: { affinitySeconds: 10, trafficDistribution: 'PreferClose' },
    });
    const { definition, ...more } = other as { definition?: object };
    const younger = {
      ...oldest,
      cluster: 'c2',
      createdAt: 5,
      ...more,
      definition: { ...oldest.definition, ...definition },
    };
    const merged = mergeExports([younger, oldest]);
    const { targetPort: _, ...first } = oldest.definition.ports[0]!;
    expect(merged).toMatchObject({
      definition: { ...oldest.definition, ports: [first] },
      labels: oldest.labels,
      annotations: oldest.annotations,
    });
    expect(reasons(merged)).toEqual(want);
  });

  it('has all families, the oldest first, and reports those that only some endpoints have', () => {
    const v6 = exported('c1', { definition: { families: ['IPv6'] } });
    const both = exported('c2', { createdAt: 5, definition: { families: ['IPv4', 'IPv6'] } });
    const merged = mergeExports([both, v6]);
    expect(merged.definition.families).toEqual(['IPv6', 'IPv4']);
    expect(reasons(merged)).toEqual(['IPFamilyConflict']);
  });

  it('sees no conflict in the order of families', () => {
    const a = exported('c1', { definition: { families: ['IPv6', 'IPv4'] } });
    const b = exported('c2', { definition: { families: ['IPv4', 'IPv6'] } });
    expect(reasons(mergeExports([a, b]))).toEqual([]);
  });

  it('agrees with the rules of the specification, whatever the exports', () => {
    fc.assert(
      fc.property(exportsOfClusters, (exports) => {
        const merged = mergeExports(exports);
        const want = mergedByRules(exports);
        expect({ ...merged.definition, labels: merged.labels, annotations: merged.annotations }).toEqual(want.fields);
        expect(reasons(merged)).toEqual(want.reasons);
        expect(Object.fromEntries(merged.portNames)).toEqual(want.portNames);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on the order of the exports', () => {
    const permuted = exportsOfClusters.chain((exports) =>
      fc.tuple(fc.constant(exports), fc.shuffledSubarray(exports, { minLength: exports.length })),
    );
    fc.assert(
      fc.property(permuted, ([exports, others]) => {
        expect(mergeExports(others)).toEqual(mergeExports(exports));
      }),
    );
  });

  it('has no two ports of one name, or of one protocol and number', () => {
    fc.assert(
      fc.property(exportsOfClusters, (exports) => {
        const { ports } = mergeExports(exports).definition;
        expect(new Set(ports.map(({ name }) => name)).size).toBe(ports.length);
        expect(new Set(ports.map(({ protocol, port: number }) => `${protocol} ${number}`)).size).toBe(ports.length);
      }),
    );
  });

  it('changes nothing about the oldest export when a younger one joins', () => {
    fc.assert(
      fc.property(exportsOfClusters, (exports) => {
        const before = mergeExports(exports);
        const joined = exported('z9', { createdAt: 99, labels: { z: '1' }, definition: { headless: true } });
        const { families, ports, ...after } = mergeExports([...exports, joined]).definition;
        expect(before.definition).toMatchObject(after);
        expect(families.slice(0, before.definition.families.length)).toEqual(before.definition.families);
        expect(ports.slice(0, before.definition.ports.length)).toEqual(before.definition.ports);
      }),
    );
  });
});

describe('retainExports', () => {
  const existing = {
    definition: exported('c1', { definition: { ports: [http, port('dns', 53)] } }).definition,
    labels: { a: '1' },
    annotations: {},
  };

  it('leaves what the import says, and gives the known clusters their ports of it', () => {
    const known = exported('c2', {
      createdAt: 0,
      labels: {},
      definition: { headless: true, ports: [port('web', 80)] },
    });
    const merged = retainExports(existing, [known]);
    expect(merged).toMatchObject(existing);
    expect(merged.oldest).toBeUndefined();
    expect(merged.portNames.get('c2')).toEqual(new Map([['web', 'http']]));
  });

  it('reports where a known export differs from it', () => {
    const known = exported('c2', { definition: { ports: existing.definition.ports, headless: true } });
    expect(retainExports(existing, [known]).conflicts).toEqual([
      { reason: 'TypeConflict', field: 'type', clusters: ['c2'] },
    ]);
  });

  it('does not compare what the import shows filtered: labels, annotations and families', () => {
    const known = exported('c2', {
      labels: { 'kubernetes.io/x': '1' },
      annotations: { b: '1' },
      definition: { ports: existing.definition.ports, families: ['IPv6'] },
    });
    expect(retainExports(existing, [known]).conflicts).toEqual([]);
  });

  it('still reports where known exports differ from each other', () => {
    const known = exported('c2', { labels: { b: '1' }, definition: { ports: existing.definition.ports } });
    const other = { ...known, cluster: 'c3', labels: {} };
    expect(retainExports(existing, [known, other]).conflicts).toEqual([
      { reason: 'LabelsConflict', field: 'exportedLabels', clusters: ['c3'] },
    ]);
  });
});
