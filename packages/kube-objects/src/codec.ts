import { excerpt, expectKind, readEnvelope } from './envelope.ts';
import { DecodeError, TooLargeError } from './errors.ts';
import { type Fields, LONGEST_TEXT, message, type Projected, string, stringMap } from './fields.ts';
import { array, JsonBudget, projectJson, record } from './json.ts';
import { apiVersion, identity, type Kind, type KubeObject } from './kind.ts';
import { MessageDecoder } from './protobuf.ts';
import { LENGTH_DELIMITED, ProtobufReader } from './protobuf-reader.ts';
import { type Status, statusFromJson, statusFromProtobuf } from './status.ts';

/** An object that exceeds a limit of its kind's table: its identity, and which part is too large. */
export type TooLarge = { readonly metadata: Projected<typeof identity>; readonly tooLarge: string };

/** One page of a list. `continue` is `''` on the last one. */
export type Page<T> = {
  readonly items: readonly T[];
  /** These aren't among the items. */
  readonly tooLarge: readonly TooLarge[];
  readonly resourceVersion: string;
  readonly continue: string;
};

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly object: T }
  | { readonly type: 'DELETED'; readonly metadata: Projected<typeof identity> }
  /** The object was added or changed, and is too large to be read. */
  | { readonly type: 'TOO_LARGE'; readonly object: TooLarge }
  /** `initialEventsEnd`: the WatchList has sent everything that existed when it began. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: Status };

/** KEP-3157: the annotation of the bookmark that ends the initial events. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * How much memory an object or a page may take, so that one of 300 MB can't end a process with a limit of 192 MiB. The
 * largest object that the API server accepts, an EndpointSlice of 1,000 endpoints with 100 addresses each, takes 5 MB.
 */
const MAX_OBJECT_BYTES = 8 * 1024 * 1024;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/**
 * How many times its own size protobuf may take in memory, besides a few small objects. The most that an API server
 * writes is half of that: endpoints with only an address.
 */
const MAX_GROWTH = 20;
const SMALL_BYTES = 64 * 1024;

const allowedBytes = (atMost: number, bytes: number): number => Math.min(atMost, SMALL_BYTES + MAX_GROWTH * bytes);

/** A `continue` token has the key of an object in base64. */
const listMeta = { resourceVersion: string(2), continue: string(3, 16 * 1024) } as const;
const listMetaDecoder = new MessageDecoder(listMeta);
const onlyIdentity = { metadata: message(1, identity) } as const;
const identityDecoder = new MessageDecoder(onlyIdentity);
const bookmarkFields = { metadata: message(1, { ...identity, annotations: stringMap(12) }) } as const;
const bookmarkDecoder = new MessageDecoder(bookmarkFields);

/** Every list: 1 metadata, 2 items. */
const LIST_META_TAG = (1 << 3) | LENGTH_DELIMITED;
const ITEM_TAG = (2 << 3) | LENGTH_DELIMITED;

/** metav1.WatchEvent: 1 type, 2 object, a RawExtension whose field 1 holds the enveloped object. */
const TYPE_TAG = (1 << 3) | LENGTH_DELIMITED;
const OBJECT_TAG = (2 << 3) | LENGTH_DELIMITED;
const RAW_TAG = (1 << 3) | LENGTH_DELIMITED;

/**
 * Decodes one kind's objects, pages and watch events, from protobuf and from JSON. Every method throws DecodeError for
 * invalid bytes, and TooLargeError for a page that would take more than 32 MiB of memory, or 20 times its size. An object
 * of a page or an event that is too large is returned as such, and its neighbours are read. Keeps no input bytes.
 */
export class Codec<K extends Kind> {
  readonly kind: K;
  readonly #apiVersion: string;
  readonly #object: MessageDecoder;
  readonly #reader = new ProtobufReader(Buffer.alloc(0));

  constructor(kind: K) {
    this.kind = kind;
    this.#apiVersion = apiVersion(kind);
    this.#object = new MessageDecoder(kind.fields as Fields);
  }

  /** @throws DecodeError; TooLargeError */
  objectFromJson(value: unknown): KubeObject<K> {
    expectKind(record(value, this.kind.kind), this.#apiVersion, this.kind.kind);
    return projectJson(value, this.kind.fields, this.kind.kind) as KubeObject<K>;
  }

  pageFromProtobuf(bytes: Buffer): Page<KubeObject<K>> {
    const reader = this.#reader;
    reader.reset(bytes, 0);
    reader.allow(allowedBytes(MAX_PAGE_BYTES, bytes.length));
    const envelope = readEnvelope(bytes, reader, 0, bytes.length);
    expectKind(envelope, this.#apiVersion, `${this.kind.kind}List`);
    reader.seek(envelope.rawStart);
    let metadata = { resourceVersion: '', continue: '' };
    const read: (KubeObject<K> | TooLarge)[] = [];
    let remainingBytes = allowedBytes(MAX_PAGE_BYTES, bytes.length);
    while (reader.position < envelope.rawEnd) {
      const tag = reader.tag(envelope.rawEnd);
      if (tag === LIST_META_TAG) metadata = listMetaDecoder.decode(reader, reader.length(envelope.rawEnd));
      else if (tag === ITEM_TAG) {
        read.push(this.#objectFromProtobuf(reader.length(envelope.rawEnd)));
        remainingBytes -= SLOT_BYTES + reader.spentBytes;
        if (remainingBytes < 0) tooLargePage();
      } else reader.skip(tag, envelope.rawEnd);
    }
    return page(read, metadata);
  }

  pageFromJson(value: unknown): Page<KubeObject<K>> {
    const list = record(value, 'list');
    expectKind(list, this.#apiVersion, `${this.kind.kind}List`);
    const items = array(list['items'] ?? [], 'items');
    // The items of a list carry no kind of their own.
    let remainingBytes = MAX_PAGE_BYTES;
    const read = items.map((item) => {
      const budget = new JsonBudget(MAX_OBJECT_BYTES);
      const object = this.#objectFromJson(item, budget);
      remainingBytes -= budget.spentBytes;
      return remainingBytes < 0 ? tooLargePage() : object;
    });
    return page(read, projectJson(list['metadata'] ?? {}, listMeta, 'metadata'));
  }

  eventFromProtobuf(bytes: Buffer, start: number, end: number): WatchEvent<KubeObject<K>> {
    const reader = this.#reader;
    reader.reset(bytes, start);
    reader.allow(allowedBytes(MAX_OBJECT_BYTES, end - start));
    let type = '';
    let objectStart = end;
    let objectEnd = end;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === TYPE_TAG) type = reader.string(end, LONGEST_TEXT);
      else if (tag === OBJECT_TAG) [objectStart, objectEnd] = rawExtension(reader, reader.length(end));
      else reader.skip(tag, end);
    }
    if (type === 'ERROR') return { type, status: statusFromProtobuf(bytes, objectStart, objectEnd) };
    const envelope = readEnvelope(bytes, reader, objectStart, objectEnd);
    expectKind(envelope, this.#apiVersion, this.kind.kind);
    reader.seek(envelope.rawStart);
    if (type === 'BOOKMARK') return bookmark(bookmarkDecoder.decode(reader, envelope.rawEnd));
    return change(changeType(type), this.#objectFromProtobuf(envelope.rawEnd));
  }

  eventFromJson(value: unknown): WatchEvent<KubeObject<K>> {
    const { type, object } = record(value, 'watch event');
    if (type === 'ERROR') return { type, status: statusFromJson(object) };
    expectKind(record(object, 'watch event object'), this.#apiVersion, this.kind.kind);
    if (type === 'BOOKMARK') return bookmark(projectJson(object, bookmarkFields, 'BOOKMARK'));
    return change(changeType(type), this.#objectFromJson(object, new JsonBudget(MAX_OBJECT_BYTES)));
  }

  /** Reads from the reader's position to `end`. */
  #objectFromProtobuf(end: number): KubeObject<K> | TooLarge {
    const reader = this.#reader;
    const start = reader.position;
    reader.allow(allowedBytes(MAX_OBJECT_BYTES, end - start));
    try {
      return this.#object.decode(reader, end) as KubeObject<K>;
    } catch (error) {
      if (!(error instanceof TooLargeError)) throw error;
      // The decoded part is discarded, but counts for the page.
      const { spentBytes } = reader;
      reader.seek(start);
      reader.allow(Infinity);
      reader.spend(spentBytes);
      return { ...identityDecoder.decode(reader, end), tooLarge: error.message };
    }
  }

  #objectFromJson(value: unknown, budget: JsonBudget): KubeObject<K> | TooLarge {
    try {
      return projectJson(value, this.kind.fields, this.kind.kind, budget) as KubeObject<K>;
    } catch (error) {
      if (!(error instanceof TooLargeError)) throw error;
      return { ...projectJson(value, onlyIdentity, this.kind.kind), tooLarge: error.message };
    }
  }
}

/** The slot of an object in a page's array, with unused space. */
const SLOT_BYTES = 16;

function tooLargePage(): never {
  throw new TooLargeError(
    `a page takes more than ${MAX_PAGE_BYTES} bytes of memory, or ${MAX_GROWTH} times its own size`,
  );
}

const isTooLarge = (object: object): object is TooLarge => Object.hasOwn(object, 'tooLarge');

/** The event of a deletion has only the object's metadata. */
function change<T extends KubeObject<Kind>>(
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: T | TooLarge,
): WatchEvent<T> {
  if (type === 'DELETED') return { type, metadata: object.metadata };
  return isTooLarge(object) ? { type: 'TOO_LARGE', object } : { type, object };
}

/** A list that is cut after its envelope's type looks empty, but has no version, as every list must. */
function page<T extends object>(
  read: readonly (T | TooLarge)[],
  metadata: { readonly resourceVersion: string; readonly continue: string },
): Page<T> {
  if (metadata.resourceVersion === '') throw new DecodeError('a list has no resourceVersion');
  const items: T[] = [];
  const tooLarge: TooLarge[] = [];
  for (const object of read) {
    if (isTooLarge(object)) tooLarge.push(object);
    else items.push(object);
  }
  return { items, tooLarge, ...metadata };
}

function rawExtension(reader: ProtobufReader, end: number): [start: number, end: number] {
  let found: [number, number] = [end, end];
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === RAW_TAG) {
      const until = reader.length(end);
      found = [reader.position, until];
      reader.seek(until);
    } else reader.skip(tag, end);
  }
  return found;
}

function changeType(type: unknown): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return type;
  throw new DecodeError(`unknown watch event type ${excerpt(type)}`);
}

function bookmark({
  metadata,
}: {
  metadata: { resourceVersion: string; annotations: { readonly [key: string]: string } };
}): WatchEvent<never> {
  if (metadata.resourceVersion === '') throw new DecodeError('a BOOKMARK has no resourceVersion');
  return {
    type: 'BOOKMARK',
    resourceVersion: metadata.resourceVersion,
    initialEventsEnd: metadata.annotations[INITIAL_EVENTS_END] === 'true',
  };
}
