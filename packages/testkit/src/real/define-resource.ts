import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';

type CrdSpec = { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] };

/**
 * `TestCluster.defineResource` in terms of the API. A real server answers 404 until it has noticed the new resource
 * and then 429 ("storage is (re)initializing") for a moment, so a list of each served version has the last word: one from
 * the watch cache, for others may be answered without it. What the server tells of its groups may come later still.
 */
export async function defineResource(admin: TestClient, crd: KubeObject): Promise<void> {
  await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const { group, names, versions } = crd['spec'] as CrdSpec;
  for (const { name } of versions.filter(({ served }) => served)) {
    const path = `/apis/${group}/${name}/${names.plural}?resourceVersion=0`;
    await eventually(
      async () => {
        const { status } = await admin.request('GET', path);
        return status === 200;
      },
      true,
      { what: `a list of ${path}` },
    );
    await eventually(() => tellsOf(admin, `${group}/${name}`, names.plural), true, {
      what: `${group}/${name} to be told of`,
    });
  }
}

/** Whether those who ask which resources there are hear of this one. */
async function tellsOf(admin: TestClient, groupVersion: string, plural: string): Promise<boolean> {
  const { groups = [] } = (await admin.get('/apis')) as { groups?: { versions: { groupVersion: string }[] }[] };
  if (!groups.some(({ versions }) => versions.some((version) => version.groupVersion === groupVersion))) return false;
  const { body } = await admin.request('GET', `/apis/${groupVersion}`);
  const { resources = [] } = body as { resources?: { name: string }[] };
  return resources.some(({ name }) => name === plural);
}
