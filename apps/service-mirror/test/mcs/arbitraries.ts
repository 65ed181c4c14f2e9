import fc from 'fast-check';
import type { Export, ExportedDefinition } from '../../src/imports/desired/export.ts';
import { definition } from '../arbitraries.ts';

/** For property tests: valid exports of up to four clusters, with so few values that they conflict. */

const keys = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { maxKeys: 2, noNullPrototype: true });

const exportedDefinition: fc.Arbitrary<ExportedDefinition> = fc
  .record({
    definition,
    internalTrafficPolicy: fc.constantFrom('Cluster' as const, 'Local' as const),
    trafficDistribution: fc.constantFrom('PreferClose', undefined),
  })
  .map(({ definition: { headless, families, ports, affinitySeconds }, ...policies }) => ({
    headless,
    families,
    ports,
    affinitySeconds,
    ...policies,
  }));

export const oneExport: fc.Arbitrary<Export> = fc.record({
  cluster: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
  createdAt: fc.integer({ min: 0, max: 3 }),
  definition: exportedDefinition,
  labels: keys,
  annotations: keys,
});

/** At least one, each of another cluster, in any order. */
export const exportsOfClusters: fc.Arbitrary<Export[]> = fc.uniqueArray(oneExport, {
  selector: ({ cluster }) => cluster,
  minLength: 1,
  maxLength: 4,
});

type Given = Partial<Omit<Export, 'cluster' | 'definition'>> & { readonly definition?: Partial<ExportedDefinition> };

/** An export with one port, as most have it. */
export const exported = (cluster: string, { definition: given, ...more }: Given = {}): Export => ({
  cluster,
  createdAt: 1,
  labels: {},
  annotations: {},
  ...more,
  definition: {
    headless: false,
    families: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined }],
    affinitySeconds: undefined,
    internalTrafficPolicy: 'Cluster',
    trafficDistribution: undefined,
    ...given,
  },
});
