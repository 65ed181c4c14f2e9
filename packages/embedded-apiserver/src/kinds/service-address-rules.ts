import { duplicate, forbiddenValue, invalidValue, notSupported } from '../http/causes.ts';
import { hasAddress, isHeadless, type ServiceSpec } from './service-spec.ts';
import type { Cause } from '../http/status.ts';

const policies = ['SingleStack', 'PreferDualStack', 'RequireDualStack'];

/** Whether the addresses and families of a Service match. */
export function* addressRules(spec: ServiceSpec): Generator<Cause> {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (!hasAddress(spec)) {
    for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (spec[field] !== undefined) yield forbiddenValue(`spec.${field}`, 'may not be set for ExternalName services');
    }
    return;
  }
  if (clusterIP !== '' && clusterIPs[0] !== clusterIP)
    yield invalidValue('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`');
  if (clusterIP === '' && clusterIPs.length > 0)
    yield invalidValue('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified');
  for (const [index, family] of ipFamilies.entries()) {
    if (!['IPv4', 'IPv6'].includes(family)) yield notSupported(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']);
    if (ipFamilies.indexOf(family) < index) yield duplicate(`spec.ipFamilies[${index}]`, family);
  }
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy))
    yield notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, policies);
  if (isHeadless(spec)) return;
  for (const [index, ip] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined || ip.includes(':') === (family === 'IPv6')) continue;
    yield invalidValue(
      `spec.clusterIPs[${index}]`,
      ip,
      `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
    );
  }
}

/** Whether a Service may change to these addresses: only the second one may be added or removed. */
export function* addressUpdateRules(spec: ServiceSpec, before: ServiceSpec): Generator<Cause> {
  if (!hasAddress(spec) || !hasAddress(before)) return;
  const [now = [], had = []] = [spec.clusterIPs, before.clusterIPs];
  const compared = now.length === had.length ? now.length : Math.min(now.length, had.length, 1);
  for (let index = 0; index < compared; index++) {
    if (now[index] !== had[index]) yield invalidValue(`spec.clusterIPs[${index}]`, now, 'may not change once set');
  }
}
