import { type Service, serviceKind } from '@kube-semaphore/kube-objects';
import { globalServiceLabel, mirroredServiceLabel } from '@kube-semaphore/service-mirror/names';
import type { Context } from './contexts.ts';
import { allOf, listObjects, mapRead, type Read, type Run } from './objects.ts';

/** The mirrors and the global Services of a cluster. */
export async function readServices(context: Context, run: Run): Promise<Read<readonly Service[]>> {
  const [mirrors, globals] = await Promise.all(
    [mirroredServiceLabel, globalServiceLabel].map((label) =>
      listObjects(context, serviceKind, { labelSelector: `${label}=true` }, run),
    ),
  );
  return mapRead(allOf({ mirrors: mirrors!, globals: globals! }), (both) => [...both.mirrors, ...both.globals]);
}
