import type { SecurityContext } from '../containers/security.ts';

/** The part of a Pod's spec that a kubelet here knows; what else a manifest says is for the API server. */
export type PodSpec = {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly nodeName?: string;
  readonly terminationGracePeriodSeconds?: number;
  /** Of its containers, where they say nothing else. */
  readonly securityContext?: Pick<SecurityContext, 'runAsUser' | 'runAsGroup' | 'runAsNonRoot' | 'seccompProfile'>;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
};

/** One container of it. An init container with `restartPolicy` Always is a sidecar: it starts first, and stays. */
export type Container = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly restartPolicy?: string;
  readonly startupProbe?: { readonly exec?: { readonly command: readonly string[] } };
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly securityContext?: SecurityContext;
};

type Variable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
};

type VolumeMount = {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
};

type Probe = { readonly httpGet?: { readonly path?: string; readonly port: number | string } };

/** Which keys of a ConfigMap or Secret become which files; without it each key is a file of its name. */
export type Item = { readonly key: string; readonly path: string };

type ConfigMapSource = { readonly name: string; readonly items?: readonly Item[]; readonly optional?: boolean };
type SecretItems = { readonly items?: readonly Item[]; readonly optional?: boolean };

/** One part of a projected volume. */
export type Projection = {
  readonly configMap?: ConfigMapSource;
  readonly secret?: SecretItems & { readonly name: string };
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly expirationSeconds?: number;
    readonly audience?: string;
  };
  readonly downwardAPI?: {
    readonly items: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[];
  };
};

export type Volume = {
  readonly name: string;
  readonly configMap?: ConfigMapSource;
  readonly secret?: SecretItems & { readonly secretName: string };
  readonly projected?: { readonly sources: readonly Projection[] };
  readonly emptyDir?: object;
  readonly hostPath?: { readonly path: string; readonly type?: string };
};

/** All containers that stay, in the order in which they start. @throws {Error} for one that is to end first: none here knows how */
export function containersOf({ initContainers = [], containers }: PodSpec): readonly Container[] {
  const early = initContainers.find(({ restartPolicy }) => restartPolicy !== 'Always');
  if (early !== undefined) throw new Error(`init container ${early.name} is no sidecar`);
  return [...initContainers, ...containers];
}
