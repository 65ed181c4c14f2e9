import type { CalicoApi } from '@kube-semaphore/kube-objects';
import * as z from 'zod/mini';
import type { Context } from './contexts.ts';
import { type Read, readAs, readGroups, mapRead, type Run } from './objects.ts';

/** Where Calico's resources are: in its own API server, if it has one. */
export function calicoApi(groups: ReadonlySet<string>): CalicoApi | undefined {
  if (groups.has('projectcalico.org')) return 'projectcalico.org/v3';
  return groups.has('crd.projectcalico.org') ? 'crd.projectcalico.org/v1' : undefined;
}

const pool = z.object({
  cidr: z.string(),
  disabled: z.nullish(z.boolean()),
  allowedUses: z.nullish(z.array(z.string())),
});
const poolList = z.object({ items: z.array(z.object({ spec: pool })) });

/** The spec of an IPPool. */
export type Pool = z.infer<typeof pool>;

/** Empty without Calico. */
export async function readPools(context: Context, run: Run): Promise<Read<readonly Pool[]>> {
  const groups = await readGroups(context, run);
  if (!groups.known) return groups;
  const api = calicoApi(groups.value);
  if (api === undefined) return { known: true, value: [] };
  return mapRead(
    await readAs(context, `/apis/${api}/ippools`, poolList, run),
    (pools) => pools?.items.map(({ spec }) => spec) ?? [],
  );
}
