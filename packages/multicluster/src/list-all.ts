import { isStatus, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { type Codec, type Kind, type KubeObject, PageGuard } from '@kube-semaphore/kube-objects';
import type { Logger } from '@kube-semaphore/runtime';
import { untilAnswered } from './until-answered.ts';

const PAGE = 500;

type Selection = RunOptions & {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

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

/** What a list has. `forbidden`: the error if we may not list (403); then there is nothing. */
export type ListAnswer<K extends Kind> = {
  readonly objects: readonly KubeObject<K>[];
  readonly forbidden: unknown;
};

/**
 * As `listAll`, but repeats it until it is answered; that we may not list is an answer, too.
 *
 * @param failure the log message of each attempt that fails
 * @throws the signal's reason when that is aborted
 */
export function listUntilAnswered<K extends Kind>(
  client: Pick<KubeClient, 'list'>,
  codec: Codec<K>,
  { log, failure, ...selection }: Selection & { readonly log: Logger; readonly failure: string },
): Promise<ListAnswer<K>> {
  const ask = async (): Promise<ListAnswer<K>> => {
    try {
      return { objects: await listAll(client, codec, selection), forbidden: undefined };
    } catch (error) {
      if (!isStatus(error, 403)) throw error;
      return { objects: [], forbidden: error };
    }
  };
  return untilAnswered(ask, { signal: selection.signal, onFailure: (error) => log.warn({ error }, failure) });
}
