import type { TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

type PolicySpec = {
  readonly paramKind?: { readonly apiVersion: string };
  readonly variables: readonly { readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly messageExpression?: string }[];
};

/**
 * What Kubernetes' own type check finds in the expressions of a ValidatingAdmissionPolicy. It checks validations only, and
 * takes a variable that is no expression, or parameters that it has no schema of, for anything: so it is asked of a copy,
 * which nothing binds, that has each variable for a validation, too, and that comes when the schema is there.
 *
 * The cluster has the controller `validatingadmissionpolicy-status-controller`.
 *
 * @returns the warnings as the policy's status has them, or `none`
 */
export async function expressionWarnings(admin: TestClient, policy: string): Promise<unknown> {
  const { apiVersion, kind, ...original } = await admin.get(`${POLICIES}/${policy}`);
  const { variables, validations, ...rest } = original['spec'] as PolicySpec;
  if (rest.paramKind !== undefined) {
    const schema = `/openapi/v3/apis/${rest.paramKind.apiVersion}`;
    await eventually(async () => (await admin.request('GET', schema)).status === 200, true, {
      what: 'a schema of the parameters',
    });
  }
  const name = `${policy}-copy`;
  const checked = variables.map(({ expression }) => ({ expression: `[${expression}] != []` }));
  const spec = { ...rest, variables, validations: [...checked, ...validations] };
  await admin.create(POLICIES, { apiVersion, kind, metadata: { name }, spec });
  return eventually(
    async () => {
      const { metadata, status } = await admin.get(`${POLICIES}/${name}`);
      const { observedGeneration, typeChecking } = (status ?? {}) as {
        observedGeneration?: number;
        typeChecking?: { expressionWarnings?: unknown };
      };
      return observedGeneration === metadata['generation'] ? (typeChecking?.expressionWarnings ?? 'none') : undefined;
    },
    isDefined,
    { what: 'a check of the expressions' },
  );
}
