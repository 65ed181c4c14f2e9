import {
  builtIns,
  type Encoder,
  jsonEncoder,
  type KubeObject,
  protobufEncoder,
  type Resource,
  StoredObject,
} from '@kube-semaphore/embedded-apiserver';

/** An API server's answers about objects of one kind: a page, and the bytes of a watch. */
export type Answers = { readonly page: Buffer; readonly events: readonly Buffer[] };

/** The embedded API server's answers, in protobuf and in JSON. @param objects of one built-in kind, at least one */
export function answers(objects: readonly KubeObject[]): { readonly protobuf: Answers; readonly json: Answers } {
  const [first] = objects;
  const resource = builtIns.find(({ kind }) => kind === first!['kind'])!;
  const stored = objects.map(
    (object, i) =>
      new StoredObject(resource, {
        ...object,
        metadata: { uid: `u-${i}`, resourceVersion: String(i + 1), ...object.metadata },
      }),
  );
  return { protobuf: encoded(protobufEncoder, resource, stored), json: encoded(jsonEncoder, resource, stored) };
}

function encoded(encoder: Encoder, resource: Resource, stored: readonly StoredObject[]): Answers {
  const join = (chunks: Iterable<Uint8Array>): Buffer => Buffer.concat([...chunks]);
  const types = ['ADDED', 'MODIFIED', 'DELETED'] as const;
  return {
    page: join(encoder.list(resource, { resourceVersion: '9', continue: 'more' }, stored)),
    events: [
      ...stored.map((object, i) => join(encoder.event(types[i % 3]!, resource, object))),
      join(encoder.bookmark(resource, '9', true)),
    ],
  };
}
