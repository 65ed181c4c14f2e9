import { type TestClient, waitFor } from '@kube-semaphore/testkit';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const SCHEMA = '/openapi/v3/apis/mirror.semaphore.uw.io/v1';

type PolicySpec = {
  readonly variables: readonly { readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly messageExpression?: string }[];
};

/**
 * What Kubernetes' own type check finds in a policy's expressions. It looks at validations only, and takes a variable that is
 * no expression, or parameters that it has no schema of, for anything: so it is asked of a copy, which nothing binds, that
 * has each variable for a validation, too, and that comes when the schema is there.
 */
export async function expressionWarnings(admin: TestClient, policy: string): Promise<unknown> {
  await waitFor('a schema of the parameters', async () => (await admin.request('GET', SCHEMA)).status === 200 || undefined);
  const { apiVersion, kind, ...original } = await admin.get(`${POLICIES}/${policy}`);
  const { variables, validations, ...rest } = original['spec'] as PolicySpec;
  const checked = variables.map(({ expression }) => ({ expression: `[${expression}] != []` }));
  const spec = { ...rest, variables, validations: [...checked, ...validations] };
  await admin.create(POLICIES, { apiVersion, kind, metadata: { name: 'copy' }, spec });
  return waitFor('a look at the expressions', async () => {
    const { metadata, status } = await admin.get(`${POLICIES}/copy`);
    const { observedGeneration, typeChecking } = (status ?? {}) as { observedGeneration?: number; typeChecking?: { expressionWarnings?: unknown } };
    return observedGeneration === metadata['generation'] ? (typeChecking?.expressionWarnings ?? 'none') : undefined;
  });
}
