import { isDeepStrictEqual } from 'node:util';
import { invalidValue } from '../http/causes.ts';
import type { ClusterIps } from './cluster-ips.ts';
import { addressRules } from './service-address-rules.ts';
import { hasAddress, type IpFamily, isHeadless, type ServiceSpec } from './service-spec.ts';
import { type Cause, invalid } from '../http/status.ts';

const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 'IPv6' : 'IPv4');
const other = (family: IpFamily): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/**
 * The spec of a Service with the addresses, families and policy that the client left to the server, in the order in
 * which kube-apiserver settles them (registry/core/service/storage): what one step fills in, the next takes for given.
 *
 * @throws {ApiError} 422 for families or addresses that don't go together, or that the cluster doesn't have
 */
export function withAddresses(
  {
    name,
    spec,
    before,
  }: { readonly name: string; readonly spec: ServiceSpec; readonly before: ServiceSpec | undefined },
  clusterIps: ClusterIps,
): ServiceSpec {
  const refuseIf = (causes: Iterable<Cause>) => {
    const all = [...causes];
    if (all.length > 0) throw invalid('', 'Service', name, all);
  };
  if (!hasAddress(spec)) return before ? withoutUnchanged(spec, before) : spec;
  const had = before && hasAddress(before) ? before : undefined;
  const linked = withPluralIps(had ? keepIps(spec, had) : spec, had);

  const wanted = {
    ...linked,
    ipFamilyPolicy: linked.ipFamilyPolicy ?? before?.ipFamilyPolicy ?? defaultPolicy(linked),
  };
  refuseIf(addressRules(wanted));
  const trimmed = before && wanted.ipFamilyPolicy === 'SingleStack' ? releaseSecond(wanted, before) : wanted;
  refuseIf(policyRules(trimmed, before));
  const inferred = isHeadless(trimmed)
    ? []
    : (trimmed.clusterIPs ?? []).slice(trimmed.ipFamilies?.length ?? 0).map(familyOf);
  const asked = [...(trimmed.ipFamilies ?? []), ...inferred];

  if (isUnbound(trimmed)) return { ...trimmed, ipFamilies: completed(asked, trimmed, both(clusterIps)) };
  refuseIf(clusterRules({ ...trimmed, ipFamilies: asked }, clusterIps));
  return allocate({ ...trimmed, ipFamilies: completed(asked, trimmed, clusterIps.families) }, clusterIps);
}

/** Headless and without a selector: its endpoints may have any family, whatever the cluster supports. */
const isUnbound = (spec: ServiceSpec) => isHeadless(spec) && isEmpty(spec.selector);

const both = ({ families: [first] }: ClusterIps): readonly IpFamily[] => [first!, other(first!)];

const isEmpty = (value: object | undefined) => Object.keys(value ?? {}).length === 0;

/** A Service that becomes an ExternalName loses its assigned addresses, unless the client also changes them. */
function withoutUnchanged(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const given = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];
  const kept = Object.entries(spec).filter(
    ([field, value]) => !given.includes(field) || !isDeepStrictEqual(value, before[field]),
  );
  return Object.fromEntries(kept) as ServiceSpec;
}

/** Fields that the client omits keep their values. */
function keepIps(spec: ServiceSpec, { clusterIP, clusterIPs }: ServiceSpec): ServiceSpec {
  return {
    ...spec,
    ...(!spec.clusterIP && clusterIP !== undefined && { clusterIP }),
    ...(isEmpty(spec.clusterIPs) && clusterIPs !== undefined && { clusterIPs }),
  };
}

/** Old clients set only `clusterIP`; `clusterIPs` follows it. */
function withPluralIps(spec: ServiceSpec, before: ServiceSpec | undefined): ServiceSpec {
  const { clusterIP, clusterIPs } = spec;
  if (!clusterIP) return spec;
  const untouched = before && clusterIP !== before.clusterIP && isDeepStrictEqual(clusterIPs, before.clusterIPs);
  return isEmpty(clusterIPs) || untouched ? { ...spec, clusterIPs: [clusterIP] } : spec;
}

const defaultPolicy = (spec: ServiceSpec) => (isUnbound(spec) ? 'RequireDualStack' : 'SingleStack');

function releaseSecond(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const first = (field: 'clusterIPs' | 'ipFamilies') =>
    isDeepStrictEqual(spec[field], before[field]) && spec[field] !== undefined
      ? { [field]: spec[field].slice(0, 1) }
      : {};
  return { ...spec, ...first('clusterIPs'), ...first('ipFamilies') };
}

const doubled = [
  { field: 'clusterIPs', what: 'cluster IP' },
  { field: 'ipFamilies', what: 'IP family' },
] as const;

function* policyRules({ ipFamilyPolicy, ...spec }: ServiceSpec, before: ServiceSpec | undefined): Generator<Cause> {
  for (const { field, what } of doubled) {
    const count = spec[field]?.length ?? 0;
    const reduced = count > 0 && count < (before?.[field]?.length ?? 0);
    if (reduced && ipFamilyPolicy !== 'SingleStack') {
      yield invalidValue(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        `must be 'SingleStack' to release the secondary ${what}`,
      );
    }
    if (count === 2 && ipFamilyPolicy === 'SingleStack') {
      const why = `must be 'RequireDualStack' or 'PreferDualStack' when more than one ${what} is specified`;
      yield invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, why);
    }
  }
}

function* clusterRules({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec, { families }: ClusterIps): Generator<Cause> {
  if (ipFamilyPolicy === 'RequireDualStack' && families.length < 2) {
    yield invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services');
  }
  for (const [index, family] of ipFamilies.entries()) {
    if (!families.includes(family))
      yield invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster');
  }
}

/** The requested families, then those of `families` that are missing. */
function completed(
  asked: readonly IpFamily[],
  { ipFamilyPolicy }: ServiceSpec,
  families: readonly IpFamily[],
): readonly IpFamily[] {
  const some = asked.length > 0 ? asked : families.slice(0, 1);
  return ipFamilyPolicy !== 'SingleStack' && some.length === 1 && families.length === 2
    ? [some[0]!, other(some[0]!)]
    : some;
}

function allocate(spec: ServiceSpec, clusterIps: ClusterIps): ServiceSpec {
  if (isHeadless(spec)) return spec;
  const clusterIPs = spec.ipFamilies!.map((family, index) => spec.clusterIPs?.[index] ?? clusterIps.next(family));
  return { ...spec, clusterIP: clusterIPs[0]!, clusterIPs };
}
