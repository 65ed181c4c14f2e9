import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

type Texts = Readonly<Record<string, string>>;

/** The options of a Service. */
export type ServiceOptions = {
  readonly name: string;
  /** Default: default. */
  readonly namespace?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  /** As in the API reference. Default: http, 80 to 8080. */
  readonly ports?: readonly object[];
  /** Headless. Default: false. */
  readonly headless?: boolean;
  /** Default: `app` is its name. Null for no selector: other clients write its slices. */
  readonly selector?: Texts | null;
  /** More fields of its spec, such as `sessionAffinity`; they override the ones above. */
  readonly spec?: Readonly<Record<string, unknown>>;
};

/** A Service to create; the server sets the defaults. */
export function service({
  name,
  namespace = 'default',
  labels = {},
  annotations,
  ...options
}: ServiceOptions): KubeObject {
  const {
    ports = [{ name: 'http', port: 80, targetPort: 8080 }],
    headless = false,
    selector = { app: name },
    spec,
  } = options;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { ...labels }, ...(annotations && { annotations: { ...annotations } }) },
    spec: { ports, ...(headless && { clusterIP: 'None' }), ...(selector && { selector }), ...spec },
  };
}

/** The options of an EndpointSlice. */
export type EndpointSliceOptions = {
  readonly name: string;
  /** The Service that it belongs to. */
  readonly service: string;
  /** Default: default. */
  readonly namespace?: string;
  /** Labels besides those of Kubernetes' controller, which copies the Service's labels; they override the ones of the controller. */
  readonly labels?: Texts;
  /** Addresses of ready endpoints, or endpoints as in the API reference, of one family. Default: none. */
  readonly endpoints?: readonly (
    | string
    | { readonly addresses: readonly string[]; readonly [field: string]: unknown }
  )[];
  /** As in the API reference. Default: http, 8080. */
  readonly ports?: readonly object[];
  /** Default: the first address's family, or IPv4. */
  readonly addressType?: 'IPv4' | 'IPv6' | 'FQDN';
};

/** An EndpointSlice like those of Kubernetes' controller. */
export function endpointSlice({
  name,
  service: owner,
  namespace = 'default',
  labels = {},
  ...options
}: EndpointSliceOptions): KubeObject {
  const { ports = [{ name: 'http', port: 8080, protocol: 'TCP' }] } = options;
  const endpoints = (options.endpoints ?? []).map((endpoint) =>
    typeof endpoint === 'string' ? readyEndpoint(endpoint) : endpoint,
  );
  const { addressType = endpoints[0]?.addresses[0]?.includes(':') ? 'IPv6' : 'IPv4' } = options;
  const whose = {
    'kubernetes.io/service-name': owner,
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { ...whose, ...labels } },
    addressType,
    endpoints,
    ports,
  };
}

const readyEndpoint = (address: string) => ({
  addresses: [address],
  conditions: { ready: true, serving: true, terminating: false },
});

/** The options of a Node. */
export type NodeOptions = {
  readonly name: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  /** The ranges of its Pods, at most one of each family. Default: none yet. */
  readonly podCIDRs?: readonly string[];
  /** Its addresses for other Nodes, the primary one first. Default: none yet. */
  readonly internalIPs?: readonly string[];
  /** Its zone: the label `topology.kubernetes.io/zone`. */
  readonly zone?: string;
};

/** A Node with its status, which its creation keeps. */
export function node({
  name,
  labels = {},
  annotations,
  podCIDRs = [],
  internalIPs = [],
  zone,
}: NodeOptions): KubeObject {
  const where = { 'kubernetes.io/hostname': name, ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...where, ...labels }, ...(annotations && { annotations: { ...annotations } }) },
    spec: podCIDRs.length > 0 ? { podCIDR: podCIDRs[0], podCIDRs } : {},
    status: {
      addresses: [
        ...internalIPs.map((address) => ({ type: 'InternalIP', address })),
        { type: 'Hostname', address: name },
      ],
    },
  };
}
