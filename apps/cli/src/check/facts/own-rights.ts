import type { Context } from '../../clusters/contexts.ts';
import { calicoApi } from '../../clusters/calico.ts';
import { allOf, mapRead, type Read, type Run } from '../../clusters/objects.ts';
import { type Attributes, isAllowed } from './rights.ts';

/** What `check` may not read, and the checks that are incomplete without it. */
export type Unreadable = { readonly what: string; readonly checks: readonly string[] };

type ReadRight = Pick<Unreadable, 'checks'> & {
  /** To list, by default. */
  readonly attributes: Omit<Attributes, 'verb'> & Partial<Attributes>;
};

/** Besides Pods, without which a cluster counts as not reached. */
const always: readonly ReadRight[] = [
  {
    attributes: { verb: 'get', group: '', resource: 'pods', subresource: 'proxy' },
    checks: ['status-served', 'dns-answers'],
  },
  {
    attributes: { group: '', resource: 'nodes' },
    checks: ['ranges-apart', 'sources-kept', 'endpoints-agree', 'allowed-ips-agree', 'subnets-agree'],
  },
  { attributes: { group: 'apps', resource: 'deployments' }, checks: ['pods-complete', 'other-meshes'] },
  { attributes: { group: 'apps', resource: 'daemonsets' }, checks: ['sources-kept', 'pods-complete'] },
  {
    attributes: { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
    checks: ['rights-granted', 'imports-resolved'],
  },
  {
    attributes: { verb: 'get', group: '', resource: 'configmaps', namespace: 'kube-system' },
    checks: ['sources-kept', 'dns-rules', 'dns-answers', 'imports-resolved'],
  },
  { attributes: { group: '', resource: 'services' }, checks: ['dns-rules', 'exports-answered', 'mirrors-ready'] },
  { attributes: { group: 'discovery.k8s.io', resource: 'endpointslices' }, checks: ['mirrors-ready'] },
  { attributes: { group: 'networking.k8s.io', resource: 'networkpolicies' }, checks: ['policies-extended'] },
];

const ofCalico = (group: string): readonly ReadRight[] => [
  { attributes: { group, resource: 'ippools' }, checks: ['ranges-apart', 'pools-disabled', 'subnets-agree'] },
  ...['globalnetworksets', 'globalnetworkpolicies', 'networkpolicies'].map((resource) => ({
    attributes: { group, resource },
    checks: ['sets-filled', 'sets-unselected'],
  })),
];

/**
 * Asks the API server which of the objects that `check` reads its user may not read.
 *
 * @param groups that the cluster serves
 */
export async function readOwnRights(
  context: Context,
  groups: ReadonlySet<string>,
  run: Run,
): Promise<Read<readonly Unreadable[]>> {
  const [calico] = calicoApi(groups)?.split('/') ?? [];
  const rights = [...always, ...(calico === undefined ? [] : ofCalico(calico))];
  const allowed = await Promise.all(
    rights.map(({ attributes }) => isAllowed(context, { attributes: { verb: 'list', ...attributes } }, run)),
  );
  return mapRead(allOf(Object.fromEntries(allowed.entries())), (each) =>
    rights.flatMap(({ attributes: { verb = 'list', resource, subresource }, checks }, i) =>
      each[i] === true
        ? []
        : [{ what: `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`, checks }],
    ),
  );
}
