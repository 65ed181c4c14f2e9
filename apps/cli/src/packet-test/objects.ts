import { PORT, probeScript, type Target } from './probe.ts';

/** On each of our Pods: who made it, and in which run. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'semaphore-test' } as const;
const RUN = 'semaphore.uw.io/test-run';

/** Longer than any run: then the kubelet stops the Pod, even if this program was killed. */
export const DEADLINE_SECONDS = 300;

type Run = {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  /** Default: the scheduler chooses. */
  readonly nodeName?: string | undefined;
};

/** The Pod that calls. */
export const callerName = (name: string): string => `${name}-caller`;

/** The Pod that answers; or with targets, that calls. */
export function podOf({ name, namespace, image, nodeName }: Run, targets?: readonly Target[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: targets === undefined ? name : callerName(name),
      namespace,
      labels: targets === undefined ? { ...MANAGED_BY, [RUN]: name } : MANAGED_BY,
    },
    spec: {
      nodeName,
      activeDeadlineSeconds: DEADLINE_SECONDS,
      terminationGracePeriodSeconds: 0,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'test',
          image,
          command: ['node', '-e', probeScript()],
          ...(targets !== undefined && {
            env: [
              { name: 'TARGETS', value: JSON.stringify(targets) },
              { name: 'POD_IPS', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
            ],
          }),
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

/** The Service of the Pod that answers. It is deleted with the Pod. @param labels what the other clusters select */
export function serviceOf({ name, namespace }: Run, uid: string, labels: Readonly<Record<string, string>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      labels: { ...labels, ...MANAGED_BY },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    spec: { selector: { [RUN]: name }, ports: [{ port: PORT, protocol: 'TCP' }] },
  };
}
