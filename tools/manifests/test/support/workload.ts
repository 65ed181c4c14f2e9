import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };

/** The checked fields of a container. */
export type Container = {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe?: { readonly exec: { readonly command: readonly string[] } };
  readonly securityContext: {
    readonly capabilities: unknown;
    readonly readOnlyRootFilesystem: boolean;
    readonly allowPrivilegeEscalation: boolean;
  };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};

/** The Pod template of a workload. */
export type Template = {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly initContainers?: readonly Container[];
    readonly containers: readonly [Container];
    readonly topologySpreadConstraints?: readonly { readonly labelSelector: object }[];
    readonly volumes: readonly ({ readonly name: string } & Readonly<Record<string, object>>)[];
  } & Readonly<Record<string, unknown>>;
};

/** A Deployment's spec, or a DaemonSet's. */
export type WorkloadSpec = {
  readonly replicas?: number;
  readonly selector: object;
  readonly updateStrategy?: object;
  readonly template: Template;
};

/** The only object of a kind. @throws {Error} if there isn't one, or more than one */
export function only(objects: readonly KubeObject[], kind: string): KubeObject {
  const [object, ...others] = objects.filter((each) => each.kind === kind);
  if (object === undefined || others.length > 0)
    throw new Error(`there are ${others.length + (object === undefined ? 0 : 1)} objects of kind ${kind}`);
  return object;
}

export const specOf = (workload: KubeObject): WorkloadSpec => workload['spec'] as WorkloadSpec;

/** The Deployments and DaemonSets among objects. */
export function workloadsIn(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
}
