import type { EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isLabelKey } from '@kube-semaphore/naming';
import type { ServicePort, SlicePort } from './source.ts';

/** Of a Service, and of a slice: far more than anybody has, and few enough to compare each with each. */
export const MAX_PORTS = 1_000;

/** Of a global Service, for all clusters together. Each takes up to 600 bytes in etcd, which takes 1.5 MiB. */
export const MAX_GLOBAL_PORTS = 2_000;

export function servicePortOf({
  name,
  protocol,
  port,
  targetPort,
  appProtocol,
}: Service['spec']['ports'][number]): ServicePort | undefined {
  if (protocol !== '' && !isProtocol(protocol)) return undefined;
  // 0 and '' are what the table has for no target.
  return {
    name,
    protocol: protocol || 'TCP',
    port,
    targetPort: targetPort || undefined,
    appProtocol: appProtocol || undefined,
  };
}

const isProtocol = (protocol: string): protocol is ServicePort['protocol'] => ['TCP', 'UDP', 'SCTP'].includes(protocol);

/** An optional lower-case name, numbers that ports have, and an appProtocol that the API takes. */
export function isLegalServicePort(port: ServicePort | undefined): port is ServicePort {
  if (port === undefined || !isAppProtocol(port.appProtocol)) return false;
  const { name, port: number, targetPort } = port;
  const isTarget =
    targetPort === undefined ||
    (typeof targetPort === 'number'
      ? isPortNumber(targetPort)
      : /^(?=.*[a-z])[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(targetPort));
  return (name === '' || isDnsLabel(name)) && isPortNumber(number) && isTarget;
}

/** Spelled as keys of labels are: `http`, `kubernetes.io/h2c`. */
const isAppProtocol = (text: string | undefined): boolean => text === undefined || isLabelKey(text);

const isPortNumber = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= 65_535;

export function slicePortOf({
  name,
  protocol,
  port,
  appProtocol,
}: EndpointSlice['ports'][number]): SlicePort | undefined {
  if (protocol !== '' && !isProtocol(protocol)) return undefined;
  return { name, protocol: protocol || 'TCP', port, appProtocol: appProtocol || undefined };
}

/** What makes a port one that the API server or a consumer of slices can't take; undefined if nothing does. */
export function portProblem({ name, port, appProtocol }: SlicePort): string | undefined {
  if (name !== '' && !isDnsLabel(name)) return 'its name';
  if (port !== undefined && !isPortNumber(port)) return `its number, ${port}`;
  return isAppProtocol(appProtocol) ? undefined : 'its appProtocol';
}
