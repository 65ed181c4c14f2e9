import { expectKind, printable, readEnvelope } from './envelope.ts';
import { DecodeError } from './errors.ts';
import { type Fields, message, messages, string, stringMap } from './fields.ts';
import { array, projectJson, record } from './json.ts';
import { apiVersion, identity, type Kind, type KubeObject } from './kind.ts';
import { MessageDecoder } from './protobuf.ts';
import { LENGTH_DELIMITED, ProtobufReader } from './protobuf-reader.ts';
import { type Status, statusFromJson, statusFromProtobuf } from './status.ts';

/** One page of a list. `continue` is `''` on the last one. */
export type Page<T> = { readonly items: readonly T[]; readonly resourceVersion: string; readonly continue: string };

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** `initialEventsEnd`: everything that existed when a WatchList began has been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: Status };

/** KEP-3157: the annotation of the bookmark that ends the initial events. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

const listMeta = { resourceVersion: string(2), continue: string(3) } as const;
const bookmarkFields = { metadata: message(1, { ...identity, annotations: stringMap(12) }) } as const;
const bookmarkDecoder = new MessageDecoder(bookmarkFields);

/** metav1.WatchEvent: 1 type, 2 object, a RawExtension whose field 1 holds the enveloped object. */
const TYPE_TAG = (1 << 3) | LENGTH_DELIMITED;
const OBJECT_TAG = (2 << 3) | LENGTH_DELIMITED;
const RAW_TAG = (1 << 3) | LENGTH_DELIMITED;

/**
 * Reads one kind's objects, pages and watch events, from protobuf and from JSON. Every method throws DecodeError
 * for bytes that are not what they should be. Not for concurrent use within one call, and keeps no input bytes.
 */
export class Codec<K extends Kind> {
  readonly kind: K;
  readonly #apiVersion: string;
  readonly #object: MessageDecoder;
  readonly #list: MessageDecoder;
  readonly #reader = new ProtobufReader(Buffer.alloc(0));

  constructor(kind: K) {
    this.kind = kind;
    this.#apiVersion = apiVersion(kind);
    this.#object = new MessageDecoder(kind.fields as Fields);
    this.#list = new MessageDecoder({ metadata: message(1, listMeta), items: messages(2, kind.fields as Fields) });
  }

  objectFromJson(value: unknown): KubeObject<K> {
    const { apiVersion: version, kind } = record(value, this.kind.kind);
    expectKind({ apiVersion: String(version), kind: String(kind) }, this.#apiVersion, this.kind.kind);
    return projectJson(value, this.kind.fields, this.kind.kind) as KubeObject<K>;
  }

  pageFromProtobuf(bytes: Buffer): Page<KubeObject<K>> {
    this.#reader.reset(bytes, 0);
    const envelope = readEnvelope(bytes, this.#reader, 0, bytes.length);
    expectKind(envelope, this.#apiVersion, `${this.kind.kind}List`);
    this.#reader.seek(envelope.rawStart);
    const { metadata, items } = this.#list.decode(this.#reader, envelope.rawEnd) as {
      metadata: { resourceVersion: string; continue: string };
      items: KubeObject<K>[];
    };
    return page(items, metadata);
  }

  pageFromJson(value: unknown): Page<KubeObject<K>> {
    const list = record(value, 'list');
    expectKind({ apiVersion: String(list['apiVersion']), kind: String(list['kind']) }, this.#apiVersion, `${this.kind.kind}List`);
    const items = array(list['items'] ?? [], 'items');
    // The items of a list carry no kind of their own.
    const projected = items.map((item) => projectJson(item, this.kind.fields, this.kind.kind) as KubeObject<K>);
    return page(projected, projectJson(list['metadata'] ?? {}, listMeta, 'metadata'));
  }

  eventFromProtobuf(bytes: Buffer, start: number, end: number): WatchEvent<KubeObject<K>> {
    const reader = this.#reader;
    reader.reset(bytes, start);
    let type = '';
    let objectStart = end;
    let objectEnd = end;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === TYPE_TAG) type = reader.string(end);
      else if (tag === OBJECT_TAG) [objectStart, objectEnd] = rawExtension(reader, reader.length(end));
      else reader.skip(tag, end);
    }
    if (type === 'ERROR') return { type, status: statusFromProtobuf(bytes, objectStart, objectEnd) };
    const envelope = readEnvelope(bytes, reader, objectStart, objectEnd);
    expectKind(envelope, this.#apiVersion, this.kind.kind);
    reader.seek(envelope.rawStart);
    if (type === 'BOOKMARK') return bookmark(bookmarkDecoder.decode(reader, envelope.rawEnd));
    return { type: changeType(type), object: this.#object.decode(reader, envelope.rawEnd) as KubeObject<K> };
  }

  eventFromJson(value: unknown): WatchEvent<KubeObject<K>> {
    const { type, object } = record(value, 'watch event');
    if (type === 'ERROR') return { type, status: statusFromJson(object) };
    const { apiVersion: version, kind } = record(object, 'watch event object');
    expectKind({ apiVersion: String(version), kind: String(kind) }, this.#apiVersion, this.kind.kind);
    if (type === 'BOOKMARK') return bookmark(projectJson(object, bookmarkFields, 'BOOKMARK'));
    return { type: changeType(String(type)), object: projectJson(object, this.kind.fields, this.kind.kind) as KubeObject<K> };
  }
}

/** A list that was cut behind its envelope's type looks like an empty one, but for the version that every list has. */
function page<T>(items: readonly T[], metadata: { readonly resourceVersion: string; readonly continue: string }): Page<T> {
  if (metadata.resourceVersion === '') throw new DecodeError('a list has no resourceVersion');
  return { items, ...metadata };
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

function changeType(type: string): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return type;
  throw new DecodeError(`unknown watch event type ${printable(type)}`);
}

function bookmark({ metadata }: { metadata: { resourceVersion: string; annotations: { readonly [key: string]: string } } }): WatchEvent<never> {
  if (metadata.resourceVersion === '') throw new DecodeError('a BOOKMARK has no resourceVersion');
  return { type: 'BOOKMARK', resourceVersion: metadata.resourceVersion, initialEventsEnd: metadata.annotations[INITIAL_EVENTS_END] === 'true' };
}
