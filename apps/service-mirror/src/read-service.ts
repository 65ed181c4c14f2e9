import type { Left } from '@kube-semaphore/app';
import type { Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { isLabelKey } from './label-selector.ts';
import { isOwnProduct } from './own-product.ts';
import type { Definition, Family, ServicePort, SourceService } from './source.ts';

/** What a remote object is to us, and what of it is left out. */
export type Reading<T> = { readonly value: T | undefined; readonly skipped: readonly Left[] };

export type ServiceRules = {
  /** Whether a Service with these labels asks for local-first routing. */
  readonly isLocalFirst: (labels: Readonly<Record<string, string>>) => boolean;
};

/** Of a Service, and of a slice: far more than anybody has, and few enough to compare each with each. */
export const MAX_PORTS = 1_000;

const NOTHING_SKIPPED: readonly Left[] = [];
// Our own products are never a source, or two clusters would mirror each other's mirrors.
const OURS: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };
const EXTERNAL_NAME = left('expected', 'external-name', 'it is a name for another host, and has no endpoints');

/** Reads a Service. The remote is half trusted: what ends up in a name of ours is checked here. */
export function readService({ metadata, spec }: Service, { isLocalFirst }: ServiceRules): Reading<SourceService> {
  const { uid, namespace, name, creationTimestamp, labels } = metadata;
  if (isOwnProduct(labels)) return OURS;
  if (spec.type === 'ExternalName') return EXTERNAL_NAME;
  if (!isDnsLabel(namespace) || !isDnsLabel(name)) return left('problem', 'bad-name', `${namespace}/${name} is no name of a Service`);
  const families = familiesOf(spec);
  if (families.length === 0) return left('problem', 'bad-family', 'it has no address family that we know');
  const count = spec.ports.length;
  if (count > MAX_PORTS) return left('problem', 'too-large', `it has ${count} ports, at most ${MAX_PORTS} are allowed`);
  const ports = spec.ports.map(portOf);
  // One that no API server would take would cost a global Service the parts of all other clusters.
  if (!ports.every(isLegalPort)) return left('problem', 'bad-port', 'it has a port that no Service can have');
  const definition: Definition = {
    headless: spec.clusterIP === 'None',
    families,
    ports,
    affinitySeconds: affinityOf(spec),
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
  };
  return { value: { uid, namespace, name, createdAt: creationTimestamp, definition, localFirst: isLocalFirst(labels) }, skipped: NOTHING_SKIPPED };
}

/** A day is the longest that the API takes; without any it fills in three hours. */
function affinityOf({ sessionAffinity, sessionAffinityConfig }: Service['spec']): number | undefined {
  const { timeoutSeconds } = sessionAffinityConfig.clientIP;
  if (sessionAffinity !== 'ClientIP') return undefined;
  return timeoutSeconds >= 1 && timeoutSeconds <= 86_400 ? timeoutSeconds : 10_800;
}

/** Servers before dual-stack (1.20) have none, and then the address tells. */
export function familiesOf({ ipFamilies, clusterIP }: Pick<Service['spec'], 'ipFamilies' | 'clusterIP'>): readonly Family[] {
  if (ipFamilies.length > 0) return ipFamilies.filter((family) => family === 'IPv4' || family === 'IPv6');
  return [clusterIP.includes(':') ? 'IPv6' : 'IPv4'];
}

export function portOf({ name, protocol, port, targetPort, appProtocol }: Service['spec']['ports'][number]): ServicePort | undefined {
  if (protocol !== '' && !isProtocol(protocol)) return undefined;
  // 0 and '' are what the table has for no target.
  return { name, protocol: protocol || 'TCP', port, targetPort: targetPort || undefined, appProtocol: appProtocol || undefined };
}

export const isProtocol = (protocol: string): protocol is ServicePort['protocol'] => ['TCP', 'UDP', 'SCTP'].includes(protocol);

/** An optional lower-case name, numbers that ports have, and an appProtocol that the API takes. */
function isLegalPort(port: ServicePort | undefined): port is ServicePort {
  if (port === undefined || !isAppProtocol(port.appProtocol)) return false;
  const { name, port: number, targetPort } = port;
  const isTarget = targetPort === undefined || (typeof targetPort === 'number' ? isPortNumber(targetPort) : /^(?=.*[a-z])[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(targetPort));
  return (name === '' || isDnsLabel(name)) && isPortNumber(number) && isTarget;
}

/** Spelled as keys of labels are: `http`, `kubernetes.io/h2c`. */
export const isAppProtocol = (text: string | undefined): boolean => text === undefined || isLabelKey(text);

export const isPortNumber = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= 65_535;

function left(kind: Left['kind'], reason: string, detail: string): Reading<never> {
  return { value: undefined, skipped: [{ kind, reason, detail }] };
}
