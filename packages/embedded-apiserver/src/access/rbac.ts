import type { User } from './identity.ts';
import type { RequestInfo, Target } from '../http/request-info.ts';
import { ApiError } from '../http/status.ts';
import type { Storage } from '../storage/storage.ts';
import type { KubeObject, PolicyRule } from '../test-cluster.ts';

type RoleRef = { kind: 'Role' | 'ClusterRole'; name: string };
type Subject = { kind: string; name: string; namespace?: string };

/** The paths of system:discovery (for authenticated users) and system:public-info-viewer (for everybody). */
const publicPaths = /^\/(healthz|livez|readyz|version)\/?$/;
const discoveryPaths = /^\/(api|apis|openapi)(\/.*)?$/;
/** The paths that system:service-account-issuer-discovery allows for all service accounts. */
const issuerPath = '/openid/v1/jwks';

/** Throws a 403 unless a Role or ClusterRole bound to `user` allows the request. */
export function authorize(storage: Storage, user: User, info: RequestInfo): void {
  if (user.groups.includes('system:masters')) return;
  if (!info.target) {
    const authenticated = user.groups.includes('system:authenticated');
    if (publicPaths.test(info.path) || (authenticated && discoveryPaths.test(info.path))) return;
    if (info.path === issuerPath && user.groups.includes('system:serviceaccounts')) return;
    throw forbidden(`forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"`);
  }
  for (const rule of boundRules(storage, user, info.target.namespace)) {
    if (allows(rule, info.verb, info.target)) return;
  }
  throw refusal(user, info.verb, info.target);
}

/** The user's rules for all namespaces, then those for this one. */
function* boundRules(storage: Storage, user: User, namespace: string): Generator<PolicyRule> {
  const read = (plural: string) => storage.collection(storage.builtIn(plural));
  const rulesOf = ({ kind, name }: RoleRef) => {
    const role = kind === 'ClusterRole' ? read('clusterroles').get('', name) : read('roles').get(namespace, name);
    return (role?.object()['rules'] ?? []) as PolicyRule[];
  };
  for (const binding of read('clusterrolebindings').list()) {
    const object = binding.object();
    if (isBound(object, user, '')) yield* rulesOf(object['roleRef'] as RoleRef);
  }
  if (namespace === '') return;
  for (const binding of read('rolebindings').list()) {
    if (binding.namespace !== namespace) continue;
    const object = binding.object();
    if (isBound(object, user, namespace)) yield* rulesOf(object['roleRef'] as RoleRef);
  }
}

function isBound(binding: KubeObject, user: User, bindingNamespace: string): boolean {
  return ((binding['subjects'] ?? []) as Subject[]).some(({ kind, name, namespace = bindingNamespace }) => {
    if (kind === 'Group') return user.groups.includes(name);
    return user.name === (kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name);
  });
}

function allows(rule: PolicyRule, verb: string, { group, resource, subresource, name }: Target): boolean {
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const has = (values: readonly string[] | undefined, wanted: string) =>
    values !== undefined && (values.includes(wanted) || values.includes('*'));
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    (has(rule.resources, full) || rule.resources.includes(`*/${subresource}`)) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

function refusal(user: User, verb: string, { group, resource, subresource, namespace, name }: Target): ApiError {
  const what = group === '' ? resource : `${resource}.${group}`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return forbidden(
    `${what}${name === '' ? '' : ` "${name}"`} is forbidden: User "${user.name}" cannot ${verb} resource "${full}" ` +
      `in API group "${group}" ${where}`,
    { ...(name !== '' && { name }), ...(group !== '' && { group }), kind: resource },
  );
}

const forbidden = (message: string, details = {}) => new ApiError(403, 'Forbidden', message, { details });
