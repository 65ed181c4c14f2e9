import { parseAllDocuments } from 'yaml';

/** The kind of YAML or JSON on a page: a manifest, a part of another file, or unknown, with the reason. */
export type Kind = { readonly manifest: string } | { readonly part: string } | { readonly unknown: string };

/** Top-level keys of files that aren't manifests. */
const parts: Readonly<Record<string, string>> = {
  global: 'values of the Helm charts',
  remotes: 'config',
  remoteClusters: 'config',
  remotesFrom: 'part of the config of any app',
  providers: 'providers of an inventory',
  rules: 'rules of a role',
  metadata: 'part of a manifest',
  patches: 'part of a kustomization',
  spec: 'part of a manifest',
  volumeMounts: 'part of a manifest',
};

/** Known manifests, by API version and kind. */
const manifests: ReadonlySet<string> = new Set([
  'v1 ConfigMap',
  'v1 Namespace',
  'v1 Secret',
  'v1 Service',
  'v1 ServiceAccount',
  'apps/v1 DaemonSet',
  'apps/v1 Deployment',
  'kind.x-k8s.io/v1alpha4 Cluster',
  'kustomize.config.k8s.io/v1beta1 Kustomization',
  'mirror.semaphore.uw.io/v1 MirrorNameLength',
  'multicluster.x-k8s.io/v1beta1 ServiceExport',
  'networking.k8s.io/v1 NetworkPolicy',
  'operator.tigera.io/v1 APIServer',
  'operator.tigera.io/v1 Installation',
  'projectcalico.org/v3 GlobalNetworkPolicy',
  'projectcalico.org/v3 GlobalNetworkSet',
  'projectcalico.org/v3 IPPool',
  'projectcalico.org/v3 NetworkPolicy',
  'rbac.authorization.k8s.io/v1 ClusterRole',
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
  'rbac.authorization.k8s.io/v1 Role',
  'rbac.authorization.k8s.io/v1 RoleBinding',
]);

/** The kind of each document of a text. */
export function kindsIn(text: string): readonly Kind[] {
  return parseAllDocuments(text).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    return problem === undefined ? kindOf(document.toJS()) : { unknown: problem.message };
  });
}

function kindOf(value: unknown): Kind {
  if (typeof value !== 'object' || value === null) return { unknown: `not a mapping: ${JSON.stringify(value)}` };
  if ('apiVersion' in value || 'kind' in value) {
    const { apiVersion, kind } = { apiVersion: undefined, kind: undefined, ...value };
    const manifest = `${String(apiVersion)} ${String(kind)}`;
    return manifests.has(manifest) ? { manifest } : { unknown: `unknown kind: ${manifest}` };
  }
  const part = Object.keys(value)
    .map((key) => parts[key])
    .find((known) => known !== undefined);
  return part === undefined ? { unknown: `unknown keys: ${Object.keys(value).join(', ')}` } : { part };
}
