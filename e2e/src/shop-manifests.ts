import { labelDomains, nameLabel } from '@kube-semaphore/policy/names';

/** The namespace of all that is ours and no program of kube-semaphore, in either cluster. */
export const SHOP = 'shop';

const labels = { app: 'web' };

/** An app as any team would deploy it: each Pod goes on for some seconds after it was deleted, until nobody calls it any more. */
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

/** Its Service, with the label by which the clusters of deploy/overlays/example tell what they mirror. */
export const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: SHOP, labels: { 'mirror.semaphore.uw.io/mirror-service': 'true' } },
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

/** Who calls it, in the other cluster: a Pod that may be known there by its label. */
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
