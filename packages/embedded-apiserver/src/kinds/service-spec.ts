import type { KubeObject } from '../test-cluster.ts';

export type IpFamily = 'IPv4' | 'IPv6';

type Port = {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
  nodePort?: number;
  appProtocol?: string;
};

/** The fields of a Service's spec that the server reads. */
export type ServiceSpec = {
  type?: string;
  clusterIP?: string;
  clusterIPs?: readonly string[];
  ipFamilies?: readonly IpFamily[];
  ipFamilyPolicy?: string;
  ports?: readonly Port[];
  selector?: Record<string, string>;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  externalName?: string;
  [field: string]: unknown;
};

export const specOf = (service: KubeObject): ServiceSpec => (service['spec'] ?? {}) as ServiceSpec;

export const isHeadless = ({ clusterIP }: ServiceSpec): boolean => clusterIP === 'None';

/** An ExternalName Service has no addresses or ports of its own. */
export const hasAddress = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';
