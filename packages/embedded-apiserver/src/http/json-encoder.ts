import { initialEventsEndAnnotation, type Encoder } from './encoder.ts';
import { apiVersion, type Resource } from '../kinds/resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';

const end = Buffer.from('}\n');
const comma = Buffer.from(',');

const typeMeta = (resource: Resource) => ({ kind: resource.kind, apiVersion: apiVersion(resource) });

/** Stored objects have no kind and version: this puts them in place of the opening brace. */
function* withTypeMeta(resource: Resource, object: StoredObject): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(typeMeta(resource)).slice(0, -1)},`);
  yield object.json.unpack().subarray(1);
}

function* event(type: string, object: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield Buffer.from(`{"type":"${type}","object":`);
  yield* object;
  yield end;
}

/** JSON, a line per event. */
export const jsonEncoder: Encoder = {
  contentType: 'application/json',
  watchContentType: 'application/json',
  object: withTypeMeta,
  *list(resource, metadata, items) {
    const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersion(resource), metadata });
    yield Buffer.from(`${head.slice(0, -1)},"items":[`);
    for (const [index, item] of items.entries()) {
      if (index > 0) yield comma;
      // Items of custom resources name their kind; items of built-in lists don't.
      if (resource.custom) yield* withTypeMeta(resource, item);
      else yield item.json.unpack();
    }
    yield Buffer.from(']}\n');
  },
  status: (status) => [Buffer.from(`${JSON.stringify(status)}\n`)],
  event: (type, resource, object) => event(type, withTypeMeta(resource, object)),
  bookmark(resource, resourceVersion, initialEventsEnd) {
    const metadata = { resourceVersion, ...(initialEventsEnd && { annotations: initialEventsEndAnnotation }) };
    return event('BOOKMARK', [Buffer.from(JSON.stringify({ ...typeMeta(resource), metadata }))]);
  },
  error: (status) => event('ERROR', [Buffer.from(JSON.stringify(status))]),
};
