import type { KubeObject } from '../cluster.ts';
import { duplicate, invalidValue, required } from './causes.ts';
import type { Cause } from './status.ts';

type Port = { name?: string; port: number; protocol?: string; targetPort?: number | string };
type ServiceSpec = {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  ports?: Port[];
  selector?: Record<string, string>;
  [field: string]: unknown;
};

const specOf = (service: KubeObject) => (service['spec'] ?? {}) as ServiceSpec;

/** By all clusters of the process: none of them is so large that it would matter. */
let allocated = 0;

/** The next address of 10.96.0.0/12, which is kube-apiserver's usual range; it isn't given back. */
function allocate(): string {
  allocated += 1;
  return `10.${96 + ((allocated >> 16) & 15)}.${(allocated >> 8) & 255}.${allocated & 255}`;
}

/** Fills in what kube-apiserver does; what `previous` had is kept where the new spec is silent. */
export function defaultService(service: KubeObject, previous?: KubeObject): KubeObject {
  const spec = specOf(service);
  const ports = spec.ports?.map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port }));
  const type = spec.type ?? 'ClusterIP';
  const common = { ...spec, type, sessionAffinity: spec['sessionAffinity'] ?? 'None', ...(ports && { ports }) };
  if (type === 'ExternalName') return { ...service, spec: common };

  const before = previous && specOf(previous);
  const clusterIP = spec.clusterIP || before?.clusterIP || allocate();
  const headlessWithoutSelector = clusterIP === 'None' && spec.selector === undefined;
  return {
    ...service,
    spec: {
      ...common,
      clusterIP,
      clusterIPs: spec.clusterIPs ?? before?.clusterIPs ?? [clusterIP],
      internalTrafficPolicy: spec['internalTrafficPolicy'] ?? 'Cluster',
      ipFamilies: spec.ipFamilies ?? before?.ipFamilies ?? (headlessWithoutSelector ? ['IPv4', 'IPv6'] : ['IPv4']),
      // Nobody knows which families the endpoints of such a Service will have.
      ipFamilyPolicy:
        spec.ipFamilyPolicy ?? before?.ipFamilyPolicy ?? (headlessWithoutSelector ? 'RequireDualStack' : 'SingleStack'),
    },
  };
}

/** The refusals that a Service of ours could run into. */
export function* serviceRules(service: KubeObject, previous?: KubeObject): Generator<Cause> {
  const { type, ports = [], clusterIP = '', ipFamilies } = specOf(service);
  if (type !== 'ExternalName' && clusterIP !== 'None' && ports.length === 0) yield required('spec.ports');
  const seen = new Set<string>();
  for (const [index, { name, port, protocol }] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    if (ports.length > 1 && !name) yield required(`${field}.name`);
    if (seen.has(`${protocol}/${port}`)) yield duplicate(field, { port, protocol });
    seen.add(`${protocol}/${port}`);
  }
  const family = clusterIP.includes(':') ? 'IPv6' : 'IPv4';
  if (type !== 'ExternalName' && clusterIP !== 'None' && ipFamilies?.[0] !== family) {
    const why = `expected an ${ipFamilies?.[0]} value as indicated by \`ipFamilies[0]\``;
    yield invalidValue('spec.clusterIPs[0]', clusterIP, why);
  }
  const before = previous && specOf(previous);
  if (!before || before.type === 'ExternalName' || type === 'ExternalName') return;
  if (clusterIP !== before.clusterIP) yield invalidValue('spec.clusterIPs[0]', [clusterIP], 'may not change once set');
}
