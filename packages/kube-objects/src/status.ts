import { expectKind, readEnvelope } from './envelope.ts';
import { int, LONGEST_MAP_VALUE, message, messages, type Projected, string } from './fields.ts';
import { projectJson, record } from './json.ts';
import { MessageDecoder } from './protobuf.ts';
import { ProtobufReader } from './protobuf-reader.ts';

/** metav1.Status, as k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto numbers it. */
const fields = {
  message: string(3, LONGEST_MAP_VALUE),
  reason: string(4),
  details: message(5, {
    causes: messages(4, { reason: string(1), message: string(2, LONGEST_MAP_VALUE), field: string(3) }, 10_000),
    retryAfterSeconds: int(5),
  }),
  code: int(6),
} as const;

const decoder = new MessageDecoder(fields);

/** An API server's description of an error: the body of an answer, or the object of an ERROR event. */
export type Status = Projected<typeof fields>;

export function statusFromProtobuf(bytes: Buffer, start = 0, end = bytes.length): Status {
  const reader = new ProtobufReader(bytes, start);
  const envelope = readEnvelope(bytes, reader, start, end);
  expectKind(envelope, 'v1', 'Status');
  reader.seek(envelope.rawStart);
  return decoder.decode(reader, envelope.rawEnd);
}

export function statusFromJson(value: unknown): Status {
  expectKind(record(value, 'Status'), 'v1', 'Status');
  return projectJson(value, fields, 'Status');
}
