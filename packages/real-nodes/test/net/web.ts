import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { bash } from '@kube-semaphore/testkit';
import { BUSYBOX_IMAGE } from '../busybox.ts';

const labels = { app: 'web' };

/** A server on each node that answers with the name of its Pod, and its Service. */
const objects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [
            {
              name: 'web',
              image: BUSYBOX_IMAGE,
              args: ['-c', 'echo serving; hostname > /name; exec httpd -f -p 8080 -h /'],
              readinessProbe: { httpGet: { path: '/name', port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  },
];

/** Applies objects as an administrator. */
export async function apply(cluster: TestCluster, items: readonly object[]): Promise<void> {
  await bash(`kubectl apply -f - <<'END'\n${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}\nEND`, cluster);
}

export const web = {
  /** Resolves when both Pods are ready. */
  async deploy(cluster: TestCluster): Promise<void> {
    await apply(cluster, objects);
    await bash('kubectl rollout status deployment/web --timeout=10m', cluster);
  },

  /** The answers of the Service to calls of a Pod: names of Pods, and an empty one for a failed call. */
  async answersTo(pod: string, cluster: TestCluster, calls = 10): Promise<ReadonlySet<string>> {
    const { spec } = await cluster.admin.get('/api/v1/namespaces/default/services/web');
    const { clusterIP } = spec as { clusterIP: string };
    // The wget of a busybox without shared libraries crashes when it looks up a name.
    const call = `printf "GET /name HTTP/1.0\\r\\n\\r\\n" | nc -w 2 ${clusterIP} 80 | tail -n 1 | grep . || echo`;
    const { stdout } = await bash(`kubectl exec ${pod} -- sh -c 'for i in $(seq ${calls}); do ${call}; done'`, cluster);
    return new Set(stdout.replace(/\n$/, '').split('\n'));
  },
};
