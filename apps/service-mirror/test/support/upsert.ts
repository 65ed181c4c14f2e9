import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';

/**
 * Creates an object, or puts `update` of the one that is there in its place, without a check of its version: the Go program
 * writes everything so.
 */
export async function upsert(
  client: TestClient,
  collection: string,
  object: KubeObject,
  update: (there: KubeObject) => KubeObject = () => object,
): Promise<KubeObject> {
  const path = `${collection}/${object.metadata.name}`;
  const there = await client.request('GET', path);
  if (there.status === 404) return client.create(collection, object);
  const { status, body } = await client.request('PUT', path, update(there.body));
  if (status !== 200) throw new Error(`PUT ${path}: ${status} ${String(body['message'])}`);
  return body;
}
