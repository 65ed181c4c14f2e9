import type { Call } from '../http/call.ts';
import type { Change } from '../storage/collection.ts';
import { checkWatchOptions } from './list-options.ts';
import { isTrue } from '../http/request-info.ts';
import { awaitRevision, queriedRevision } from '../storage/resource-version.ts';
import { select, type Selection } from './selection.ts';
import { send } from '../http/send.ts';
import { ApiError, unexpected } from '../http/status.ts';

/** How long before its end a watch gets its last bookmark, from which the next watch can continue. */
const FAREWELL_MS = 2000;

/**
 * Serves a watch until its timeoutSeconds are over, the client leaves, or the history is too short.
 *
 * A watch has a cursor into the collection's history rather than a queue of its own, so that a client that reads
 * slowly costs no memory; one that falls too far behind gets the 410 that kube-apiserver has for it as well.
 *
 * @throws {ApiError} only before the stream begins
 */
export async function watch(call: Call): Promise<void> {
  const { resource, target, info, encoder, response } = call;
  checkWatchOptions(info.query);
  const selection = select(resource, target, info.query);
  const revision = queriedRevision(info.query);
  // A list answers 400 here.
  if (revision === undefined) throw unexpected('resourceVersion: Invalid value');
  call.begin(200, encoder.watchContentType);
  // Clients need the status code now; the first event may come much later.
  response.flushHeaders();

  const ended = new AbortController();
  const end = () => ended.abort();
  const lastsMs = timeoutMs(info.query);
  const timer = setTimeout(end, lastsMs);
  response.once('close', end);
  try {
    const cursor = await begin(call, selection, revision);
    await follow(call, selection, cursor, { signal: ended.signal, lastsMs });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await send(response, encoder.error(error.status));
  } finally {
    clearTimeout(timer);
  }
}

/** Where a watch continues: a position in the history of changes; the client knows those up to `revision`. */
type Cursor = { position: number; readonly revision: number };

/** Sends the initial objects. */
async function begin(call: Call, selection: Selection, revision: number): Promise<Cursor> {
  const { storage, resource, encoder, behaviour, response } = call;
  const { query } = call.info;
  const collection = storage.collection(resource);
  const ignorant = behaviour.ignoreSendInitialEvents(resource.group);
  const asked = ignorant ? null : query.get('sendInitialEvents');
  if (revision !== 0 && !isTrue(asked)) return { position: collection.positionAfter(revision), revision };

  await awaitRevision(storage.clock, revision);
  const now = storage.clock.revision;
  const cursor = { position: collection.positionAfter(now), revision: now };
  if (asked !== null && !isTrue(asked)) return cursor;
  const present = collection.list();
  await send(response, initialEvents());
  // Also for watches that request initial events only implicitly.
  if (isTrue(query.get('allowWatchBookmarks')) && !ignorant) {
    await send(response, encoder.bookmark(resource, String(now), true));
  }
  return cursor;

  function* initialEvents() {
    for (const object of present) {
      if (selection.includes(object)) yield* encoder.event('ADDED', resource, object);
    }
  }
}

/** Sends each change after `cursor`, and periodic bookmarks, until `signal` aborts or `lastsMs` are over. */
async function follow(
  { storage, resource, info, encoder, behaviour, response }: Call,
  selection: Selection,
  cursor: Cursor,
  { signal, lastsMs }: { signal: AbortSignal; lastsMs: number },
): Promise<void> {
  const collection = storage.collection(resource);
  let wake = () => {};
  let bookmarkDue = false;
  const remind = () => {
    bookmarkDue = isTrue(info.query.get('allowWatchBookmarks'));
    wake();
  };
  const unsubscribe = collection.onChange(() => wake());
  signal.addEventListener('abort', () => wake());
  const interval = setInterval(remind, behaviour.bookmarkIntervalMs);
  const farewell = lastsMs > FAREWELL_MS ? setTimeout(remind, lastsMs - FAREWELL_MS) : undefined;
  try {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const changes = collection.changesFrom(cursor.position);
      // Read together with the changes: a bookmark must not cover changes that happen while these are sent.
      const now = storage.clock.revision;
      cursor.position += changes.length;
      await send(response, events(changes));
      if (bookmarkDue && now >= cursor.revision) {
        bookmarkDue = false;
        await send(response, encoder.bookmark(resource, String(now), false));
      }
      await promise;
    }
  } finally {
    clearInterval(interval);
    clearTimeout(farewell);
    unsubscribe();
  }

  function* events(changes: readonly Change[]) {
    for (const { object, previous, type } of changes) {
      if (object.revision <= cursor.revision) continue;
      const before = previous !== undefined && selection.includes(previous);
      const after = type !== 'DELETED' && selection.includes(object);
      // For a watch with a selector, an object that begins to match is added, and one that stops matching is deleted.
      if (after) yield* encoder.event(before ? 'MODIFIED' : 'ADDED', resource, object);
      else if (before) yield* encoder.event('DELETED', resource, previous.at(object.revision));
    }
  }
}

function timeoutMs(query: URLSearchParams): number {
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  // kube-apiserver's --min-request-timeout, so that watches don't all end at once.
  return 1000 * (seconds > 0 ? seconds : 1800 * (1 + Math.random()));
}
