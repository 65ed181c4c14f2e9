import type { PolicyRule, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import type { Grant, Rights } from './manifests.ts';

/**
 * Waits until a real API server applies an account's rights: it learns of roles and bindings from watches,
 * a moment after it has answered their creation.
 */
export async function rightsCount(
  admin: TestClient,
  { namespace, name }: Rights['account'],
  grants: readonly Grant[],
): Promise<void> {
  const user = `system:serviceaccount:${namespace}:${name}`;
  const attributes = grants.flatMap((grant) => grant.rules.map((rule) => attributesOf(rule, grant.namespace)));
  for (const resourceAttributes of attributes) {
    await eventually(
      async () => {
        const { status } = await admin.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes },
        });
        return (status as { allowed: boolean }).allowed;
      },
      true,
      { what: `${user} to be allowed ${JSON.stringify(resourceAttributes)}` },
    );
  }
}

/** One request that a rule allows. One is enough, because a role applies as a whole. */
function attributesOf({ apiGroups, resources, verbs, resourceNames }: PolicyRule, namespace: string | undefined) {
  const [resource, subresource] = (resources[0] ?? '').split('/', 2);
  return { group: apiGroups[0], resource, subresource, verb: verbs[0], name: resourceNames?.[0], namespace };
}
