import { labelDomains, nameLabel } from '@kube-semaphore/policy/names';

/** The namespace of the test's own workloads, in either cluster. */
export const SHOP = 'shop';

const labels = { app: 'web' };

/** A usual app: each Pod runs for some seconds after its deletion, until it gets no more calls. */
export const webDeployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: SHOP },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 30,
        containers: [
          {
            name: 'web',
            image: 'web',
            env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            readinessProbe: { httpGet: { port: 8080, path: '/' } },
            lifecycle: { preStop: { sleep: { seconds: 5 } } },
          },
        ],
      },
    },
  },
});

/** Its Service, with the label that deploy/overlays/example mirrors. */
export const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: SHOP, labels: { 'mirror.semaphore.uw.io/mirror-service': 'true' } },
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

/** Its caller in the other cluster, with the label of a set. */
export const callerPod = (nodeName: string, url: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'checkout-0', namespace: SHOP, labels: { [nameLabel(labelDomains[0])]: 'checkout' } },
  spec: {
    nodeName,
    automountServiceAccountToken: false,
    containers: [{ name: 'caller', image: 'caller', args: [url] }],
  },
});
