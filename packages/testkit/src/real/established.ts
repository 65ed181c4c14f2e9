import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';

type Condition = { type: string; lastTransitionTime: string };

/**
 * Makes a new CustomResourceDefinition look old. For two seconds after it was established the server sleeps two
 * seconds before each create, so that its peers in a highly available control plane may catch up. There are none here.
 */
export async function backdateEstablished(admin: TestClient, crd: KubeObject): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
  // The resource may be listed a moment before: accepted names are enough for that.
  const conditions = await eventually(
    async () => {
      const status = (await admin.get(path))['status'] as { conditions?: Condition[] } | undefined;
      return status?.conditions?.some(({ type }) => type === 'Established') ? status.conditions : undefined;
    },
    isDefined,
    { what: `${crd.metadata.name} to be established` },
  );
  const backdated = conditions.map((condition) => ({ ...condition, lastTransitionTime: '2020-01-01T00:00:00Z' }));
  await admin.request('PATCH', `${path}/status`, { status: { conditions: backdated } });
}
