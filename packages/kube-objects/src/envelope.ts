import { printable } from '@kube-semaphore/text';
import { DecodeError } from './errors.ts';
import { string } from './fields.ts';
import { MessageDecoder } from './protobuf.ts';
import { LENGTH_DELIMITED, type ProtobufReader } from './protobuf-reader.ts';

/** `k8s\0`, before every object in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf). */
const MAGIC = 0x6b387300;

const typeMeta = new MessageDecoder({ apiVersion: string(1), kind: string(2) });

/** runtime.Unknown: 1 typeMeta, 2 raw. */
const TYPE_META_TAG = (1 << 3) | LENGTH_DELIMITED;
const RAW_TAG = (2 << 3) | LENGTH_DELIMITED;

export type Envelope = { apiVersion: string; kind: string; rawStart: number; rawEnd: number };

/** Reads `k8s\0` and the Unknown after it. @returns its type, and where the object's own bytes are */
export function readEnvelope(bytes: Buffer, reader: ProtobufReader, start: number, end: number): Envelope {
  if (end - start < 4 || bytes.readUInt32BE(start) !== MAGIC)
    throw new DecodeError('protobuf: an object does not start with k8s\\0');
  reader.seek(start + 4);
  let type = { apiVersion: '', kind: '' };
  let rawStart = end;
  let rawEnd = end;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === TYPE_META_TAG) type = typeMeta.decode(reader, reader.length(end));
    else if (tag === RAW_TAG) {
      rawEnd = reader.length(end);
      rawStart = reader.position;
      reader.seek(rawEnd);
    } else reader.skip(tag, end);
  }
  return { ...type, rawStart, rawEnd };
}

/** @throws DecodeError for an object of another kind */
export function expectKind(found: { apiVersion?: unknown; kind?: unknown }, apiVersion: string, kind: string): void {
  if (found.apiVersion === apiVersion && found.kind === kind) return;
  throw new DecodeError(`expected ${apiVersion} ${kind}, got ${excerpt(found.apiVersion)} ${excerpt(found.kind)}`);
}

/** A value from a server for an error message: short, and on one line. */
export function excerpt(found: unknown): string {
  if (found === undefined || found === '') return '(nothing)';
  // `String` throws for some other values: deep ones, and those with their own `toString`.
  return typeof found === 'string' ? printable(found, 80) : '(not a text)';
}
