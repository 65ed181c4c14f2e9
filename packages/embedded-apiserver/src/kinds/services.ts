import { duplicate, forbiddenValue, invalidValue, notSupported, required } from '../http/causes.ts';
import type { ClusterIps } from './cluster-ips.ts';
import { isPortNumber, protocols } from './ports.ts';
import { addressRules, addressUpdateRules } from './service-address-rules.ts';
import { withAddresses } from './service-addresses.ts';
import { isHeadless, type ServiceSpec, specOf } from './service-spec.ts';
import type { Cause } from '../http/status.ts';
import { isDnsLabel, isQualifiedName } from './syntax.ts';
import type { KubeObject } from '../test-cluster.ts';

/** Three hours. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Sets kube-apiserver's defaults; fields that the client omits come from `previous`. @throws {ApiError} 422 */
export function defaultService(
  service: KubeObject,
  previous: KubeObject | undefined,
  clusterIps: ClusterIps,
): KubeObject {
  const { sessionAffinityConfig, ...spec } = specOf(service);
  const { type = 'ClusterIP', sessionAffinity = 'None' } = spec;
  const common: ServiceSpec = {
    ...spec,
    type,
    sessionAffinity,
    ...(sessionAffinity === 'ClientIP' && {
      sessionAffinityConfig: {
        clientIP: { timeoutSeconds: DEFAULT_AFFINITY_SECONDS, ...sessionAffinityConfig?.clientIP },
      },
    }),
    ...(spec.ports && {
      ports: spec.ports.map((port) => ({
        ...port,
        protocol: port.protocol || 'TCP',
        targetPort: port.targetPort || port.port,
      })),
    }),
  };
  if (type === 'ExternalName') delete common['internalTrafficPolicy'];
  else common['internalTrafficPolicy'] ??= 'Cluster';
  const change = { name: service.metadata.name, spec: common, before: previous && specOf(previous) };
  return { ...service, spec: withAddresses(change, clusterIps) };
}

/** The rules that our Services could break. */
export function* serviceRules(service: KubeObject, previous?: KubeObject): Generator<Cause> {
  const spec = specOf(service);
  if (previous) yield* addressUpdateRules(spec, specOf(previous));
  yield* topologyRules(service);
  const { type, ports = [], sessionAffinity, sessionAffinityConfig } = spec;
  if (type !== 'ExternalName' && !isHeadless(spec) && ports.length === 0) yield required('spec.ports');
  yield* portRules(spec);
  if (!['None', 'ClientIP'].includes(sessionAffinity ?? ''))
    yield notSupported('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds !== undefined && (seconds <= 0 || seconds > 86_400)) {
    yield invalidValue(
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      seconds,
      'must be greater than 0 and less than 86400',
    );
  }
  yield* addressRules(spec);
}

/** Both names of one annotation. */
function* topologyRules({ metadata: { annotations = {} } }: KubeObject): Generator<Cause> {
  const hints = annotations['service.kubernetes.io/topology-aware-hints'];
  const mode = annotations['service.kubernetes.io/topology-mode'];
  if (hints === undefined || mode === undefined || hints === mode) return;
  const field = 'metadata.annotations[service.kubernetes.io/topology-mode]';
  yield invalidValue(
    field,
    mode,
    'must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
  );
}

function* portRules({ type, ports = [] }: ServiceSpec): Generator<Cause> {
  const [names, numbers] = [new Set<string>(), new Set<string>()];
  for (const [index, { name = '', port, protocol = '', targetPort, nodePort, appProtocol }] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    if (name === '' && ports.length > 1) yield required(`${field}.name`);
    if (name !== '' && !isDnsLabel(name)) yield invalidValue(`${field}.name`, name, 'must be a DNS label');
    if (names.has(name) && name !== '') yield duplicate(`${field}.name`, name);
    names.add(name);
    if (!isPortNumber(port)) yield invalidValue(`${field}.port`, port, 'must be between 1 and 65535, inclusive');
    if (!protocols.includes(protocol)) yield notSupported(`${field}.protocol`, protocol, protocols);
    if (typeof targetPort !== 'string' && !isPortNumber(targetPort)) {
      yield invalidValue(`${field}.targetPort`, targetPort, 'must be between 1 and 65535, inclusive');
    }
    if (appProtocol !== undefined && !isQualifiedName(appProtocol))
      yield invalidValue(`${field}.appProtocol`, appProtocol, 'must be a name');
    if (nodePort && type === 'ClusterIP')
      yield forbiddenValue(`${field}.nodePort`, "may not be used when `type` is 'ClusterIP'");
    if (numbers.has(`${protocol}/${port}`)) yield duplicate(field, { port, protocol });
    numbers.add(`${protocol}/${port}`);
  }
}
