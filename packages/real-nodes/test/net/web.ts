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

/** Commands for bash. */
export const web = {
  deploy: `kubectl apply -f - <<'END'
${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })}
END
kubectl rollout status deployment/web --timeout=60s`,
};
