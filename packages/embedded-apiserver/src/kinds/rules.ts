import { invalidValue } from '../http/causes.ts';
import { endpointSliceRules } from './endpoint-slices.ts';
import { endpointsRules } from './endpoints.ts';
import { checkLeaseTimes, leaseRules } from './leases.ts';
import { metadataRules } from './metadata.ts';
import { networkPolicyRules } from './network-policies.ts';
import { nodeRules } from './nodes.ts';
import type { Resource } from './resources.ts';
import { serviceRules } from './services.ts';
import { invalid, type Cause } from '../http/status.ts';
import { violations } from './structural-schema.ts';
import { isDnsLabel, isDnsSubdomain, isServiceName } from './syntax.ts';
import type { KubeObject } from '../test-cluster.ts';

/** The rules that an object breaks, or that a change from `previous` breaks. */
type Rule = (object: KubeObject, previous?: KubeObject) => Iterable<Cause>;

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
  Lease: leaseRules,
  NetworkPolicy: networkPolicyRules,
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
    ...metadataRules(object, previous),
    ...(rules[resource.kind]?.(object, previous) ?? []),
    ...(resource.schema ? violations(object, resource.schema) : []),
  ];
  if (causes.length > 0) throw invalid(resource.group, resource.kind, name, causes);
}
