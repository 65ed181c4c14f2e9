import { parseAllDocuments } from 'yaml';

/** What YAML or JSON on a page is: a manifest by its kind, a part of something else, or neither, and why not. */
export type Kind = { readonly manifest: string } | { readonly part: string } | { readonly unknown: string };

/** Keys at the top of what is no manifest: whatever has one of these is that. */
const parts: Readonly<Record<string, string>> = {
  remotes: 'config',
  remoteClusters: 'config',
  rules: 'rules of a role',
  metadata: 'part of a manifest',
  patches: 'part of a kustomization',
  spec: 'part of a manifest',
  volumeMounts: 'part of a manifest',
};

/** Manifests that the pages show, by API version and kind. */
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

/** What each document of a text is. */
export function kindsIn(text: string): readonly Kind[] {
  return parseAllDocuments(text).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    return problem === undefined ? kindOf(document.toJS()) : { unknown: problem.message };
  });
}

function kindOf(value: unknown): Kind {
  if (typeof value !== 'object' || value === null) return { unknown: `no mapping: ${JSON.stringify(value)}` };
  if ('apiVersion' in value || 'kind' in value) {
    const { apiVersion, kind } = { apiVersion: undefined, kind: undefined, ...value };
    const manifest = `${String(apiVersion)} ${String(kind)}`;
    return manifests.has(manifest) ? { manifest } : { unknown: `no kind that is known here: ${manifest}` };
  }
  const part = Object.keys(value)
    .map((key) => parts[key])
    .find((known) => known !== undefined);
  return part === undefined ? { unknown: `nothing that is known here: ${Object.keys(value).join(', ')}` } : { part };
}
