import { type Service, serviceKind } from '@kube-semaphore/kube-objects';
import { globalServiceLabel, mirroredServiceLabel } from '@kube-semaphore/service-mirror/names';
import type { Context } from '../clusters/contexts.ts';
import { allOf, listObjects, type Read, type Run } from '../clusters/objects.ts';

/** The mirrors and the global Services of a cluster. */
export async function readServices(context: Context, run: Run): Promise<Read<readonly Service[]>> {
  const [mirrors, globals] = await Promise.all(
    [mirroredServiceLabel, globalServiceLabel].map((label) =>
      listObjects(context, serviceKind, { labelSelector: `${label}=true` }, run),
    ),
  );
  const services = allOf({ mirrors: mirrors!, globals: globals! });
  return services.known ? { known: true, value: [...services.value.mirrors, ...services.value.globals] } : services;
}
