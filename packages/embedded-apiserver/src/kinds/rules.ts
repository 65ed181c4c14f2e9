import { invalidValue, tooLong } from '../http/causes.ts';
import { endpointSliceRules } from './endpoint-slices.ts';
import { endpointsRules } from './endpoints.ts';
import { nodeRules } from './nodes.ts';
import type { Resource } from './resources.ts';
import { serviceRules } from './services.ts';
import { badRequest, invalid, type Cause } from '../http/status.ts';
import { violations } from './structural-schema.ts';
import { isDnsLabel, isDnsSubdomain, isServiceName } from './syntax.ts';
import type { KubeObject } from '../test-cluster.ts';

/** The rules that an object breaks, or that a change from `previous` breaks. */
type Rule = (object: KubeObject, previous?: KubeObject) => Iterable<Cause>;

const MAX_ANNOTATION_BYTES = 256 * 1024;

const names: Readonly<
  Record<Resource['names'], { readonly isValid: (name: string) => boolean; readonly why: string }>
> = {
  subdomain: {
    isValid: isDnsSubdomain,
    why: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
  },
  label: {
    isValid: isDnsLabel,
    why: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
  },
  service: {
    isValid: isServiceName,
    why: "a DNS-1035 label must consist of lower case alphanumeric characters or '-'",
  },
  path: { isValid: (name) => !['.', '..'].includes(name) && !/[/%]/.test(name), why: 'may not be a path' },
};

const rules: Readonly<Record<string, Rule>> = {
  Endpoints: endpointsRules,
  EndpointSlice: endpointSliceRules,
  Node: nodeRules,
  Service: serviceRules,
};

/**
 * Refuses what kube-apiserver refuses, as far as our programs could ever send it. It is a table on purpose: no more
 * rules belong here than the contract suite compares.
 *
 * @throws {ApiError} 422 with a cause per broken rule, 400 for a Lease whose times can't be read
 */
export function check(resource: Resource, object: KubeObject, previous?: KubeObject): void {
  if (resource.kind === 'Lease') checkLeaseTimes(object);
  const { name } = object.metadata;
  const { isValid, why } = names[resource.names];
  const causes = [
    ...(previous || isValid(name) ? [] : [invalidValue('metadata.name', name, why)]),
    ...annotationRules(object),
    ...(rules[resource.kind]?.(object, previous) ?? []),
    ...(resource.schema ? violations(object, resource.schema) : []),
  ];
  if (causes.length > 0) throw invalid(resource.group, resource.kind, name, causes);
}

function* annotationRules({ metadata: { annotations = {} } }: KubeObject): Generator<Cause> {
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (bytes <= MAX_ANNOTATION_BYTES) return;
  yield tooLong('metadata.annotations', MAX_ANNOTATION_BYTES);
}

/** MicroTime wants exactly six digits, where Date.toISOString() has three. */
function checkLeaseTimes(lease: KubeObject): void {
  const { acquireTime, renewTime } = (lease['spec'] ?? {}) as Record<string, unknown>;
  for (const time of [acquireTime, renewTime]) {
    if (time === undefined || time === null) continue;
    if (typeof time !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/.test(time)) {
      throw badRequest(
        `Lease in version "v1" cannot be handled as a Lease: parsing time ${JSON.stringify(JSON.stringify(time))} as ` +
          '"2006-01-02T15:04:05.000000Z07:00": cannot parse',
      );
    }
  }
}
