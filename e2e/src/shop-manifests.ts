import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { spreadOverNodes } from '@kube-semaphore/real-nodes';
import { imageName } from '@kube-semaphore/testkit';

/** The namespace of the test's own workloads, in either cluster. */
export const SHOP = 'shop';

const labels = { app: 'web' };

const volumes = [{ name: 'programs', configMap: { name: 'programs' } }];

/** A container that runs one of the programs. Any image with Node.js will do, and all nodes have this one. */
const container = (name: string, args: readonly string[] = []) => ({
  name,
  image: imageName('policy'),
  command: ['/usr/local/bin/node', '--max-semi-space-size=1', `/programs/${name}.mts`],
  args,
  volumeMounts: [{ name: 'programs', mountPath: '/programs' }],
});

/** By it, the server names itself in its answers. */
const podName = { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };

export type DeploymentOptions = {
  /** Where it answers. */
  readonly port: number;
  /** Whether other clusters know its Pods by its name. */
  readonly member?: boolean;
  /** What a second container calls, ten times a second. */
  readonly url?: string;
};

/** An app of one Pod that answers, and may call. */
export function deployment(namespace: string, name: string, { port, member = false, url }: DeploymentOptions): object {
  const labels = { app: name };
  const containers = [
    {
      ...container('web'),
      env: [podName, { name: 'PORT', value: String(port) }],
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    },
    ...(url === undefined ? [] : [container('caller', [url, '100', '5000'])]),
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, ...(member && { [nameLabel(labelDomains[0])]: name }) } },
        spec: { automountServiceAccountToken: false, terminationGracePeriodSeconds: 1, volumes, containers },
      },
    },
  };
}

/**
 * A usual app: each Pod runs for some seconds after its deletion, until it gets no more calls. Controllers that restart under
 * load need more than five seconds to take it out of its slice.
 */
export const webDeployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: SHOP },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        topologySpreadConstraints: [spreadOverNodes(labels)],
        volumes,
        containers: [
          {
            ...container('web'),
            env: [podName],
            readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 },
            lifecycle: { preStop: { sleep: { seconds: 10 } } },
          },
        ],
      },
    },
  },
});

/** A drain moves one of its Pods after the other. */
export const webBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: SHOP },
  spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
};

/** Its Service, with the label that deploy/overlays/example mirrors. */
export const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: SHOP, labels: { 'mirror.semaphore.uw.io/mirror-service': 'true' } },
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

/** The labels of its caller, by which the other cluster knows it. */
export const callerLabels = { [nameLabel(labelDomains[0])]: 'checkout' };

export type CallerOptions = {
  readonly url: string;
  /** From the begin of a call to that of the next one. */
  readonly intervalMs: number;
  /** Of a call. */
  readonly timeoutMs: number;
};

/**
 * A caller, as of the app in the other cluster. It asks DNS by TCP: when a CoreDNS ends, UDP queries from ports
 * that were used before still go there, until kube-proxy notices. By default, Node.js looks up four names at a time.
 */
export const callerPod = (nodeName: string, { url, intervalMs, timeoutMs }: CallerOptions) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'checkout-0', namespace: SHOP, labels: callerLabels },
  spec: {
    nodeName,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    dnsConfig: { options: [{ name: 'use-vc' }] },
    volumes,
    containers: [
      {
        ...container('caller', [url, `${intervalMs}`, `${timeoutMs}`]),
        env: [{ name: 'UV_THREADPOOL_SIZE', value: '64' }],
      },
    ],
  },
});
