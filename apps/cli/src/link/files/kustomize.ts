import { type Cidr, hostCidr, type IpFamily } from '@kube-semaphore/net';
import type { Choices } from '../choices.ts';
import type { Cluster } from '../findings/findings.ts';
import { DNS_FILE } from './dns-file.ts';
import type { Files } from './folder.ts';

/** A remote that the folder of a cluster has. */
export type KnownRemote = {
  readonly name: string;
  readonly server?: string | undefined;
  /** Those that are used of it; undefined: both. */
  readonly families?: readonly IpFamily[] | undefined;
  readonly podCidrs: readonly Cidr[];
  /** As far as `link` found out. */
  readonly nodeCidrs: readonly Cidr[];
};

/** What an overlay is built on. */
export type OverlayOptions = {
  /** A folder of `deploy/`, as a kustomization names it. */
  readonly deploy: (folder: string) => string;
  /** Of `deploy/`: the overlay gets copies of those that it needs. Default: it needs none. */
  readonly manifests?: Files | undefined;
  /** Of the images. */
  readonly version: string;
  readonly choices: Choices;
};

/** The file with the patches for a remote. */
export const remoteFile = (name: string): string => `remote-${name}.yaml`;

/** The only Secrets of deploy/ are those of the accounts. */
const WITHOUT_TOKENS = `  - target: { kind: Secret }
    patch: |-
      apiVersion: v1
      kind: Secret
      metadata:
        name: any
      $patch: delete
`;

/** The kinds of Multi-Cluster Services that a cluster has from others stay theirs. */
export const WITHOUT_KINDS = `  - target: { kind: CustomResourceDefinition }
    patch: |-
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: any
      $patch: delete
`;

/** Lets API servers reach the status of the apps, beside who else may. */
const admitting = (apiServerIps: readonly string[]): string =>
  apiServerIps.length === 0
    ? ''
    : `  - target: { kind: NetworkPolicy, name: semaphore-(policy|service-mirror) }
    patch: |-
${apiServerIps
  .map(
    (ip) => `      - op: add
        path: /spec/ingress/0/from/-
        value: { ipBlock: { cidr: "${hostCidr(ip)}" } }
`,
  )
  .join('')}`;

/** The apps of a cluster, and the folders of `deploy/` for them and for what others read. */
export type Parts = {
  readonly apps: readonly string[];
  readonly resources: readonly string[];
  readonly components: readonly string[];
};

/** Whether a cluster needs our own CoreDNS, as its DNS server takes no rules. */
export const hasOwnDns = ({ dns }: Pick<Cluster, 'dns'>, { coredns = true }: Choices): boolean =>
  coredns && dns.kind !== 'CoreDNS';

/** @param policy the cluster has semaphore-policy */
export function partsOf(
  { ipam, minor, dns }: Pick<Cluster, 'ipam' | 'minor' | 'dns'>,
  { policy, choices }: { readonly policy: boolean; readonly choices: Choices },
): Parts {
  const { wireguard = true, userspace = false, networkPolicies = false, mcs = false } = choices;
  const apps = [...(policy ? ['policy'] : []), 'service-mirror', ...(wireguard ? ['wireguard'] : [])];
  // Others read a cluster without semaphore-policy, too.
  const sources = ['policy', 'service-mirror', ...(wireguard ? ['wireguard'] : [])];
  const resources = [
    ...sources.flatMap((app) => [...(apps.includes(app) ? [`${app}/base`] : []), `${app}/remote`]),
    ...(mcs ? ['service-mirror/mcs'] : []),
    ...(hasOwnDns({ dns }, choices) ? ['dns/base'] : []),
  ];
  const components = [
    ...(policy ? ['policy/components/metrics-network-policy'] : []),
    ...(policy && networkPolicies ? ['policy/components/network-policies'] : []),
    ...(networkPolicies ? ['policy/components/remote-namespaces'] : []),
    'service-mirror/components/global',
    'service-mirror/components/metrics-network-policy',
    ...(mcs ? ['service-mirror/components/mcs', 'service-mirror/components/remote-mcs'] : []),
    ...(wireguard && ipam === 'calico-blocks' ? ['wireguard/components/calico-blocks'] : []),
    ...(wireguard && userspace ? ['wireguard/components/userspace'] : []),
    ...(minor < 30 ? apps.map((app) => `${app}/components/before-1.30`) : []),
  ];
  return { apps, resources, components };
}

/** The text of `kustomization.yaml`. */
export function kustomization(
  { name, calico, apiServerIps }: Cluster,
  {
    deploy,
    version,
    choices: { registry, mcs = false, boundTokens },
    parts: { apps, resources, components },
    withKinds,
    names,
  }: OverlayOptions & { readonly parts: Parts; readonly withKinds: boolean; readonly names: readonly string[] },
): string {
  const files = [
    ...(calico === undefined ? [] : ['ip-pools.yaml']),
    ...(resources.includes('dns/base') ? [DNS_FILE] : []),
  ];
  const namespaceOf = (app: string): string => (app === 'service-mirror' ? 'sys-semaphore' : 'kube-system');
  const patches = [
    ...names.map((remote) => `  - path: ${remoteFile(remote)}\n`),
    ...(typeof boundTokens === 'number' ? [WITHOUT_TOKENS] : []),
    ...(mcs && !withKinds ? [WITHOUT_KINDS] : []),
    admitting(apiServerIps),
  ];
  const configMap = (app: string): string => (app === 'policy' ? 'semaphore-policy-config' : `semaphore-${app}`);
  return `# Written by "semaphore link" for the cluster ${name}. To change more, use this folder as a resource of your own overlay.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${[...resources.map(deploy), ...files].map((each) => `  - ${each}\n`).join('')}components:
${components.map((folder) => `  - ${deploy(folder)}\n`).join('')}patches:
${patches.join('')}configMapGenerator:
${apps
  .map(
    (app) => `  - name: ${configMap(app)}
    namespace: ${namespaceOf(app)}
    files: [config.json=${app}.json]
`,
  )
  .join('')}images:
${apps
  .map(
    (app) => `  - name: semaphore-${app}
${typeof registry === 'string' ? `    newName: ${registry}/semaphore-${app}\n` : ''}    newTag: ${version}
`,
  )
  .join('')}`;
}

/** Patches that mount the Secret of a remote into each workload. @param sidecars of the agents */
export function workloadsWith(
  remote: string,
  { policy, wireguard, sidecars = '' }: { policy: boolean; wireguard: boolean; sidecars?: string | undefined },
): string {
  const workloads = [
    ...(policy ? [['Deployment', 'semaphore-policy', 'kube-system', ''] as const] : []),
    ['Deployment', 'semaphore-service-mirror', 'sys-semaphore', ''] as const,
    ...(wireguard ? [['DaemonSet', 'semaphore-wireguard', 'kube-system', sidecars] as const] : []),
  ];
  return workloads
    .map(
      ([kind, name, namespace, more]) => `apiVersion: apps/v1
kind: ${kind}
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  template:
    spec:
      containers:
        - name: ${name}
          volumeMounts:
            - name: remote-${remote}
              mountPath: /etc/kube-semaphore/remotes/${remote}
              readOnly: true
      volumes:
        - name: remote-${remote}
          secret:
            secretName: ${name}-${remote}
${more}`,
    )
    .join('---\n');
}

/** Replaces the sidecar of `components/userspace` by the same one for the device of a remote. */
export const sidecarFor = (remote: string, device: string): string => `      initContainers:
        - name: wireguard-go
          $patch: delete
        - name: wireguard-go-${remote}
          image: semaphore-wireguard
          restartPolicy: Always
          command: [/usr/local/lib/semaphore-wireguard/wireguard-go]
          args: [-f, ${device}]
          env:
            - name: LOG_LEVEL
              value: error
          startupProbe:
            exec:
              command: [wg, show, ${device}, listen-port]
            periodSeconds: 1
            failureThreshold: 30
          resources:
            requests:
              cpu: 50m
              memory: 32Mi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
              add: [NET_ADMIN]
          volumeMounts:
            - name: tun
              mountPath: /dev/net/tun
            - name: sockets
              mountPath: /run/wireguard
`;

/** Calico keeps the addresses of Pods on the way to a disabled pool. */
export function poolsFor(remotes: readonly Pick<KnownRemote, 'name' | 'podCidrs'>[], calico: string): string {
  // Calico's API server would set these.
  const defaults = (family: 4 | 6): string =>
    calico.startsWith('crd.')
      ? `  blockSize: ${family === 4 ? 26 : 122}\n  ipipMode: Never\n  nodeSelector: all()\n  vxlanMode: Never\n`
      : '';
  return remotes
    .flatMap(({ name, podCidrs }) =>
      podCidrs.map(
        ({ text, family }, i) => `apiVersion: ${calico}
kind: IPPool
metadata:
  name: remote-${name}${i === 0 ? '' : `-${i + 1}`}
spec:
  cidr: ${text}
  disabled: true
  disableBGPExport: true
  natOutgoing: false
${defaults(family)}`,
      ),
    )
    .join('---\n');
}
