import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { table } from './table.ts';
import type { Mirror, MirrorSlice } from '../stage/mirror-watch.ts';

/** What a Service's spec is shown of. */
type Spec = {
  readonly clusterIPs?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol: string }[];
};

/** A Service as `kubectl get -o yaml` shows it, without what doesn't matter here. */
export function serviceYaml({ metadata: { name, namespace, annotations = {}, labels = {} }, spec }: KubeObject): string[] {
  const { clusterIPs = [], ports = [] } = (spec ?? {}) as Spec;
  const entries = (texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).map(([key, value]) => `    ${key}: ${value === 'true' ? '"true"' : value}`);
  return [
    'kind: Service',
    'metadata:',
    `  name: ${name}`,
    `  namespace: ${namespace}`,
    '  annotations:',
    ...entries(annotations),
    '  labels:',
    ...entries(labels),
    'spec:',
    '  clusterIPs:',
    ...clusterIPs.map((ip) => `  - ${ip}`),
    '  ports:',
    ...ports.map(({ name: port = '', port: number, protocol }) => `  - { name: ${port}, port: ${number}, protocol: ${protocol} }`),
  ];
}

/** The EndpointSlices behind it, with the addresses in each. */
export function sliceLines(mirror: Pick<Mirror, 'slices'> | undefined): string[] {
  const textOf = ({ ready, notReady }: MirrorSlice) => [...ready, ...notReady.map((ip) => `${ip} (not ready)`)].join(', ');
  return table((mirror?.slices ?? []).map((slice) => [slice.name, textOf(slice)]));
}
