import type { KubeObject, TestClient } from './cluster.ts';
import { waitFor } from './wait-for.ts';

type CrdSpec = { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] };

/**
 * `TestCluster.defineResource` in terms of the API. A real server answers 404 until it has noticed the new resource
 * and then 429 ("storage is (re)initializing") for a moment, so a list of each served version has the last word.
 */
export async function defineResource(admin: TestClient, crd: KubeObject): Promise<void> {
  await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const { group, names, versions } = crd['spec'] as CrdSpec;
  for (const { name } of versions.filter(({ served }) => served)) {
    const path = `/apis/${group}/${name}/${names.plural}?limit=1`;
    await waitFor(`a list of ${path}`, async () => {
      const { status } = await admin.request('GET', path);
      return status === 200 || undefined;
    });
  }
}
