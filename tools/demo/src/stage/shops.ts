import type { GlobalSubject } from './observe.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workload.ts';

/** The same app in both clusters. */
export type Shops = { readonly c1: Workload; readonly c2: Workload };

/** Their global Service in c1, while both clusters are in reach. */
export function globalSubject({ c1, shops, signal }: Pick<Stage, 'c1' | 'shops' | 'signal'>): GlobalSubject {
  return { site: c1, members: [shops.c1, shops.c2], lost: [], signal };
}

/** Gives each of them its Service, that of c1 being the older one. */
export async function exposeInTurn(shops: Shops): Promise<void> {
  await shops.c1.expose('global');
  await shops.c2.expose('global');
}
