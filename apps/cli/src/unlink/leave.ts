import { kubeClientOf } from '../clusters/kube-client.ts';
import type { Context } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { apps } from '../clusters/report.ts';
import { type KubeObject, type LinkApi, nameOf } from '../link/apply/api.ts';
import { applyObjects } from '../link/apply/apply.ts';
import { editsWithout } from '../dns/edits.ts';
import { awaitApps, type Leaver, removeObjects, stopTunnels } from './apps.ts';
import { remove, type Resource, type Stored, storedOf, strangerIn, userOf } from './objects.ts';

/** A cluster that loses remotes, with its overlay after that; without a remote, it has no objects. */
export type Leaving = Leaver & {
  readonly api: LinkApi;
  readonly objects: readonly KubeObject[];
  /** Helm applies them. */
  readonly helm: boolean;
};

const kind = (group: string, version: string, name: string, plural: string): Resource => ({
  group,
  version,
  kind: name,
  plural,
});

const RBAC = ['rbac.authorization.k8s.io', 'v1'] as const;
const ADMISSION = ['admissionregistration.k8s.io', 'v1'] as const;

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions');

/** All kinds of deploy/ and of IPPools, in the order in which they go. */
const kinds: readonly Resource[] = [
  kind('apps', 'v1', 'Deployment', 'deployments'),
  kind('apps', 'v1', 'DaemonSet', 'daemonsets'),
  kind('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  kind('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  kind('projectcalico.org', 'v3', 'IPPool', 'ippools'),
  kind('crd.projectcalico.org', 'v1', 'IPPool', 'ippools'),
  kind('', 'v1', 'ConfigMap', 'configmaps'),
  kind('', 'v1', 'Service', 'services'),
  kind('', 'v1', 'Secret', 'secrets'),
  kind(...RBAC, 'RoleBinding', 'rolebindings'),
  kind(...RBAC, 'ClusterRoleBinding', 'clusterrolebindings'),
  kind(...RBAC, 'Role', 'roles'),
  kind(...RBAC, 'ClusterRole', 'clusterroles'),
  kind('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  kind(...ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
  kind(...ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  CRD,
  kind('coordination.k8s.io', 'v1', 'Lease', 'leases'),
  kind('', 'v1', 'ResourceQuota', 'resourcequotas'),
  kind('', 'v1', 'Namespace', 'namespaces'),
];

/**
 * Removes links, in an order that can stop anywhere and start again: DNS names, the apps' work, what the apps wrote, and
 * what `semaphore link` applied.
 */
export async function leave(
  clusters: readonly Leaving[],
  { coredns }: { readonly coredns: boolean },
  run: Run,
): Promise<void> {
  for (const { api, report, ...rest } of coredns ? clusters : []) {
    const plan = await api.planDns((config) => editsWithout(config, rest));
    await api.writeDns(plan, (object) => report(`${nameOf(object)} changed`));
  }
  for (const cluster of clusters) {
    const { context, remaining, objects, helm, report } = cluster;
    if (helm)
      report(
        `waiting for Helm: ${remaining.length > 0 ? 'upgrade its release with the new values.yaml' : 'uninstall its release'}`,
      );
    else if (remaining.length > 0)
      await applyObjects({ context: context.name, api: cluster.api }, objects, (_, object, applied) => {
        if (applied !== 'unchanged') report(`${nameOf(object)} ${applied}`);
      });
    else {
      const [deployments, daemonSets] = await Promise.all(
        kinds.slice(0, 2).map((each) => storedOf(context, each, run)),
      );
      for (const each of deployments!) if (each.isOurs) await removeAndReport(cluster, each, run);
      if (daemonSets!.some(({ isOurs }) => isOurs)) await stopTunnels(cluster, run);
    }
  }
  for (const cluster of clusters) await awaitApps(cluster, run);
  for (const cluster of clusters) await removeObjects(cluster, await kubeClientOf(cluster.context), run);
  for (const cluster of clusters) await prune(cluster, run);
}

/** Kinds that may have to stay. */
const STAYING = ['Namespace', CRD.kind];

/** Whether a cluster has anything that `semaphore link` applied, besides what had to stay. */
export async function isLinked({ context }: Pick<Leaver, 'context'>, run: Run): Promise<boolean> {
  const found = await Promise.all(kinds.map((each) => storedOf(context, each, run)));
  return found.flat().some(({ kind, isOurs, goes }) => !STAYING.includes(kind) && isOurs && !goes);
}

/** Deletes what `semaphore link` applied, and the overlay doesn't have any more. */
async function prune(leaving: Leaving, run: Run): Promise<void> {
  const { context, removed, remaining, objects, report } = leaving;
  const wanted = new Set(objects.map(nameOf));
  const isToken = (name: string): boolean =>
    remaining.some((remote) => apps.some((app) => name.startsWith('Secret ') && name.endsWith(`/${app}-${remote}`)));
  // Calico's own API server may lose who manages it.
  const isPool = (name: string): boolean =>
    removed.some((remote) => [name, name.replace(/-\d+$/, '')].includes(`IPPool remote-${remote}`));
  for (const each of kinds)
    for (const stored of await storedOf(context, each, run)) {
      const { name, isOurs, goes } = stored;
      if (goes || wanted.has(name) || isToken(name) || !(isOurs || isPool(name))) continue;
      // Its remotes may need one that an earlier link applied.
      if (each === CRD && remaining.length > 0) continue;
      const reason = await whyStays(context, stored, run);
      if (reason === undefined) await removeAndReport(leaving, stored, run);
      else report(`${name} stays: ${reason}`);
    }
}

async function whyStays(
  context: Context,
  { kind, name, hasOtherManager }: Stored,
  run: Run,
): Promise<string | undefined> {
  if (!STAYING.includes(kind)) return undefined;
  if (hasOtherManager) return 'another program manages it';
  const namespace = name.slice('Namespace '.length);
  const isLease = (other: string): boolean => other.startsWith(`Lease ${namespace}/semaphore-`);
  const stranger =
    kind === CRD.kind ? await userOf(context, name, run) : await strangerIn(context, namespace, isLease, run);
  return stranger === undefined ? undefined : `it has ${stranger}`;
}

async function removeAndReport(
  { context, report }: Leaver,
  stored: Parameters<typeof remove>[1],
  run: Run,
): Promise<void> {
  await remove(context, stored, run);
  report(`${stored.name} deleted`);
}
