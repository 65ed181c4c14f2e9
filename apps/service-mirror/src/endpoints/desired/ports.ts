import type { EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isLabelKey } from '@kube-semaphore/naming';
import type { ServicePort, SlicePort } from './source.ts';

/** Of a Service or a slice: far more than real ones have, and few enough to compare each pair. */
export const MAX_PORTS = 1_000;

/** Of a global Service, for all clusters together. Each takes up to 600 bytes in etcd; an object there may have 1.5 MiB. */
export const MAX_GLOBAL_PORTS = 2_000;

export function servicePortOf({
  name,
  protocol,
  port,
  targetPort,
  appProtocol,
}: Service['spec']['ports'][number]): ServicePort | undefined {
  if (protocol !== '' && !isProtocol(protocol)) return undefined;
  // The decoder returns 0 or '' for no target.
  return {
    name,
    protocol: protocol || 'TCP',
    port,
    targetPort: targetPort || undefined,
    appProtocol: appProtocol || undefined,
  };
}

const isProtocol = (protocol: string): protocol is ServicePort['protocol'] => ['TCP', 'UDP', 'SCTP'].includes(protocol);

/** Whether the API server accepts a port: its name, numbers and appProtocol. */
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

/** It has the syntax of a label key: `http`, `kubernetes.io/h2c`. */
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

/** Which part of a port the API server or a consumer of slices would refuse: the end of a sentence; undefined if none. */
export function portProblem({ name, port, appProtocol }: SlicePort): string | undefined {
  if (name !== '' && !isDnsLabel(name)) return 'name';
  if (port !== undefined && !isPortNumber(port)) return `number, ${port}`;
  return isAppProtocol(appProtocol) ? undefined : 'appProtocol';
}
