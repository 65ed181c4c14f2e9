import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { type Codec, type Kind, type KubeObject, PageGuard } from '@kube-semaphore/kube-objects';

const PAGE = 500;

type Selection = RunOptions & { readonly namespace?: string; readonly labelSelector?: string };

/** Lists all objects of a kind once, page by page. @throws what `list` throws; DecodeError if the list seems endless */
export async function listAll<K extends Kind>(
  client: Pick<KubeClient, 'list'>,
  codec: Codec<K>,
  selection: Selection,
): Promise<readonly KubeObject<K>[]> {
  const found: KubeObject<K>[] = [];
  const guard = new PageGuard();
  let token = '';
  do {
    const page = await client.list(codec, { ...selection, limit: PAGE, continue: token });
    found.push(...page.items);
    guard.checkTotal(found.length);
    guard.endPage({ count: page.items.length, limit: PAGE });
    token = page.continue;
  } while (token !== '');
  return found;
}
