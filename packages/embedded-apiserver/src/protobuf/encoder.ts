import { initialEventsEndAnnotation, type Encoder } from '../http/encoder.ts';
import { apiVersion, type Resource } from '../kinds/resources.ts';
import { listMeta, status as statusMessage } from './meta.ts';
import { string, writeMessage, type Message } from './schema.ts';
import { varintSize, Writer } from './writer.ts';

const writer = new Writer(4096);

/** The prefix of each object that isn't part of another message. */
const magic = Buffer.from('k8s\0');

/** The last two fields of Unknown, contentEncoding and contentType: empty, but written. */
const unknownEnd = Buffer.of(0x1a, 0, 0x22, 0);

/** The prefix of an object of `length` bytes: the magic number, and the Unknown with the object's type. */
function unknownHead({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>, length: number): Buffer {
  writer.varint(length);
  writer.tag(2, 'length');
  writer.nested(1, () => {
    string(2)(writer, kind);
    string(1)(writer, apiVersion({ group, version }));
  });
  writer.bytes(magic);
  return writer.take();
}

function encode(message: Message, value: unknown): Buffer {
  writeMessage(writer, message, value);
  return writer.take();
}

/** Four bytes of length, then a WatchEvent; the event isn't wrapped in an Unknown, its object is. */
function frame(type: string, of: Pick<Resource, 'group' | 'version' | 'kind'>, object: Uint8Array): Uint8Array[] {
  const unknown = unknownHead(of, object.length);
  const length = unknown.length + object.length + unknownEnd.length;
  writer.varint(length);
  writer.tag(1, 'length'); // RawExtension.raw
  writer.varint(writer.length + length);
  writer.tag(2, 'length'); // WatchEvent.object
  string(1)(writer, type);
  const event = writer.take();
  const size = Buffer.alloc(4);
  size.writeUInt32BE(event.length + length);
  return [size, event, unknown, object, unknownEnd];
}

const statusType = { group: '', version: 'v1', kind: 'Status' };

/** Negotiation refuses resources without a protobuf table. */
function present<T>(what: T | undefined): T {
  if (what === undefined) throw new Error('no protobuf table');
  return what;
}

/** application/vnd.kubernetes.protobuf, as described in k8s.io/apimachinery/pkg/runtime/serializer/protobuf. */
export const protobufEncoder: Encoder = {
  contentType: 'application/vnd.kubernetes.protobuf',
  watchContentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  object(resource, object) {
    const message = present(object.protobuf);
    return [unknownHead(resource, message.length), message.unpack(), unknownEnd];
  },
  *list(resource, metadata, items) {
    writer.nested(1, () => writeMessage(writer, listMeta, metadata));
    const head = writer.take();
    const messages = items.map((item) => present(item.protobuf));
    const length = messages.reduce((sum, { length: size }) => sum + 1 + varintSize(size) + size, head.length);
    yield unknownHead({ ...resource, kind: `${resource.kind}List` }, length);
    yield head;
    for (const message of messages) {
      writer.varint(message.length);
      writer.tag(2, 'length'); // items, in lists of every kind
      yield writer.take();
      yield message.unpack();
    }
    yield unknownEnd;
  },
  status(status) {
    const message = encode(statusMessage, status);
    return [unknownHead(statusType, message.length), message, unknownEnd];
  },
  event: (type, resource, object) => frame(type, resource, present(object.protobuf).unpack()),
  bookmark(resource, resourceVersion, initialEventsEnd) {
    const metadata = { resourceVersion, ...(initialEventsEnd && { annotations: initialEventsEndAnnotation }) };
    return frame('BOOKMARK', resource, encode(present(resource.protobuf), { metadata }));
  },
  error: (status) => frame('ERROR', statusType, encode(statusMessage, status)),
};
