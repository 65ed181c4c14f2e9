import { networkPolicyKind } from '@kube-semaphore/kube-objects';
import { clusterSetLabel, companionLabel, crossClusterRules } from '@kube-semaphore/network-policies';
import type { Context } from '../../clusters/contexts.ts';
import { listObjects, mapRead, type Read, type Run } from '../../clusters/objects.ts';
import type { ClusterReport } from '../../clusters/report.ts';

/** NetworkPolicies that name other clusters although nothing lets Pods of these in. */
export type Unextended = { readonly why: string; readonly names: readonly string[] };

/** Reads them, with a request for each 500 NetworkPolicies, if there can be any; undefined if nothing says so. */
export async function readUnextended(
  context: Context,
  { pods }: ClusterReport,
  run: Run,
): Promise<Read<Unextended | undefined>> {
  const own = pods.filter(({ app }) => app === 'semaphore-policy');
  const configs = own.flatMap(({ status }) => ('failure' in status ? [] : [status.config]));
  const isOn = configs.some(({ networkPolicies }) => networkPolicies === true);
  const isOff = configs.some(({ networkPolicies }) => networkPolicies === false);
  if (isOn || (!isOff && (own.length > 0 || pods.length === 0)))
    return { known: true, value: isOn ? { why: '', names: [] } : undefined };
  const why = isOff ? 'semaphore-policy has -network-policies off' : 'there is no semaphore-policy';
  const key = configs[0]?.clusterSetKey ?? clusterSetLabel;
  return mapRead(await listObjects(context, networkPolicyKind, {}, run), (policies) => {
    const naming = policies.filter(
      ({ metadata, spec }) => !(companionLabel in metadata.labels) && crossClusterRules(spec, key).length > 0,
    );
    return { why, names: naming.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`) };
  });
}
