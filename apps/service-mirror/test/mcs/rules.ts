import type { Export } from '../../src/imports/desired/export.ts';

type Port = Export['definition']['ports'][number];

/**
 * The merge of exports as KEP-1645 and the API say it, rule by rule, and slow. It shares no code with the app, so that
 * both have the same result only if both are right.
 */
export function mergedByRules(exports: readonly Export[]) {
  // "The conflict resolution policy: the oldest ServiceExport wins"; the API leaves open who does at the same age.
  const sorted = [...exports].sort(
    (a, b) => a.createdAt - b.createdAt || (a.cluster < b.cluster ? -1 : a.cluster > b.cluster ? 1 : 0),
  );
  const first = sorted[0]!;

  // "The union of the exported ports": none of a name that is there, nor of a protocol and number.
  const ports: Port[] = [];
  for (const { definition } of sorted)
    for (const port of definition.ports) {
      const isFree = ports.every(
        (other) =>
          other.name !== port.name &&
          !(other.protocol === port.protocol && other.port === port.port) &&
          // The API of Services: with several ports, all have names.
          other.name !== '' &&
          port.name !== '',
      );
      if (isFree) ports.push({ ...port, targetPort: undefined });
    }

  // "Traffic goes only to clusters that expose the port": by protocol and number, as clients address it.
  const portNames = Object.fromEntries(
    sorted.map(({ cluster, definition }) => [
      cluster,
      new Map(
        definition.ports.map((port) => [
          port.name,
          ports.find((other) => other.protocol === port.protocol && other.port === port.port)?.name,
        ]),
      ),
    ]),
  );

  const families: ('IPv4' | 'IPv6')[] = [];
  for (const { definition } of sorted)
    for (const family of definition.families) if (!families.includes(family)) families.push(family);

  // "Any difference", field by field, in the order of the API's reasons.
  const differs = (of: (each: Export) => string): boolean => sorted.some((each) => of(each) !== of(first));
  const entries = (map: Readonly<Record<string, string>>): string =>
    Object.keys(map)
      .sort()
      .map((key) => `${key}=${map[key]}`)
      .join();
  const reasons: string[] = [];
  if (
    differs(({ definition }) =>
      definition.ports
        .map((p) => `${p.protocol}/${p.port}/${p.name}/${p.appProtocol}`)
        .sort()
        .join(),
    )
  )
    reasons.push('PortConflict');
  if (differs(({ definition }) => (definition.headless ? 'Headless' : 'ClusterSetIP'))) reasons.push('TypeConflict');
  if (differs(({ definition }) => (definition.affinitySeconds === undefined ? 'None' : 'ClientIP')))
    reasons.push('SessionAffinityConflict');
  if (differs(({ definition }) => String(definition.affinitySeconds))) reasons.push('SessionAffinityConfigConflict');
  if (differs(({ annotations }) => entries(annotations))) reasons.push('AnnotationsConflict');
  if (differs(({ labels }) => entries(labels))) reasons.push('LabelsConflict');
  if (differs(({ definition }) => definition.internalTrafficPolicy)) reasons.push('InternalTrafficPolicyConflict');
  if (differs(({ definition }) => String(definition.trafficDistribution))) reasons.push('TrafficDistributionConflict');
  if (differs(({ definition }) => [...definition.families].sort().join())) reasons.push('IPFamilyConflict');

  const { headless, affinitySeconds, internalTrafficPolicy, trafficDistribution } = first.definition;
  return {
    fields: {
      headless,
      families,
      ports,
      affinitySeconds,
      internalTrafficPolicy,
      trafficDistribution,
      labels: first.labels,
      annotations: first.annotations,
    },
    reasons,
    portNames,
  };
}
