import { decodeContinue, encodeContinue, type ContinueToken } from './continue-token.ts';
import type { Call } from '../http/call.ts';
import type { ListMeta } from '../http/encoder.ts';
import { checkListOptions } from './list-options.ts';
import { awaitRevision, queriedRevision } from '../storage/resource-version.ts';
import { select } from './selection.ts';
import { badRequest, expired } from '../http/status.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** One page of a list, or all of it. */
export type Page = { readonly metadata: ListMeta; readonly items: readonly StoredObject[] };

/**
 * Answers a list: at the present revision, or a further page of an earlier one.
 *
 * @throws {ApiError} 410 if the page's list is too old, 504 for a resourceVersion in the future
 */
export async function list({ storage, resource, target, info: { query } }: Call): Promise<Page> {
  checkListOptions(query);
  const token = query.get('continue') ? decodeContinue(query.get('continue')!) : undefined;
  const revision = queriedRevision(query);
  if (revision === undefined) throw badRequest('invalid resource version');
  if (token && revision !== 0) throw badRequest('specifying resource version is not allowed when using continue');
  const selection = select(resource, target, query);
  await awaitRevision(storage.clock, revision);

  const collection = storage.collection(resource);
  const at = token && token.revision !== 'inconsistent' ? token.revision : storage.clock.revision;
  const all = token ? pageSource(token, collection.list(), collection.snapshot(at)) : collection.list();
  const rest = all.filter((object) => selection.includes(object));
  // With resourceVersion=0 kube-apiserver answers from its cache, which has no pages.
  const limit = query.get('resourceVersion') === '0' ? 0 : pageLimit(query);
  if (limit <= 0 || rest.length <= limit) return { metadata: { resourceVersion: String(at) }, items: rest };

  if (at === storage.clock.revision) collection.keepSnapshot(at);
  const items = rest.slice(0, limit);
  return {
    metadata: {
      resourceVersion: String(at),
      // Directly after the last item: the next item may change meanwhile.
      continue: encodeContinue({ revision: at, start: `${items.at(-1)!.key}\0` }),
      ...(selection.whole && { remainingItemCount: rest.length - limit }),
    },
    items,
  };
}

/** 0 means no limit, and so does a negative limit. */
function pageLimit(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? 0);
  if (Number.isNaN(limit)) throw badRequest(`strconv.ParseInt: parsing "${query.get('limit')}": invalid syntax`);
  return limit;
}

function pageSource(
  { revision, start }: ContinueToken,
  present: readonly StoredObject[],
  kept: readonly StoredObject[] | undefined,
): readonly StoredObject[] {
  const source = revision === 'inconsistent' ? present : kept;
  if (!source) {
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
        'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
        'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
        'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      encodeContinue({ revision: 'inconsistent', start }),
    );
  }
  return source.filter(({ key }) => key >= start);
}
