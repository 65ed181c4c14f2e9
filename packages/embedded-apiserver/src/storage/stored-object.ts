import { PackedBytes } from './packed-bytes.ts';
import { writeMessage } from '../protobuf/schema.ts';
import { Writer } from '../protobuf/writer.ts';
import { apiVersion, type Resource } from '../kinds/resources.ts';
import type { KubeObject } from '../test-cluster.ts';

const writer = new Writer();
const utf8 = new TextDecoder();

/**
 * One version of one object; it never changes. Objects are kept as bytes, since 20,000 pods don't fit in the memory of
 * a test as trees: packed, in both encodings, and as values only what selectors and preconditions read.
 */
export class StoredObject {
  /** Unique within the resource, and the order of lists. */
  readonly key: string;
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly uid: string;
  readonly revision: number;
  /** UIDs. */
  readonly owners: readonly string[];
  /** Whether a finalizer delays its deletion. */
  readonly isHeld: boolean;
  /** Whether it has a `deletionTimestamp`. */
  readonly isEnding: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Values for field selectors. */
  readonly fields: Readonly<Record<string, string>>;
  /** Without `kind` and `apiVersion`, like the items of built-in lists. */
  readonly json: PackedBytes;
  /** The protobuf message without an envelope; absent for kinds without a table. */
  readonly protobuf?: PackedBytes;
  readonly #resource: Resource;

  /** @param object complete, with its resourceVersion; no reference to it is kept */
  constructor(resource: Resource, object: KubeObject) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    const { name, namespace = '', uid = '', labels = {} } = object.metadata;
    this.#resource = resource;
    this.key = objectKey(namespace, name);
    this.name = name;
    this.namespace = namespace;
    this.uid = uid;
    this.revision = Number(object.metadata.resourceVersion);
    this.owners = ((object.metadata['ownerReferences'] ?? []) as { uid: string }[]).map((owner) => owner.uid);
    this.isHeld = finalizersOf(object).length > 0;
    this.isEnding = object.metadata['deletionTimestamp'] !== undefined;
    this.labels = labels;
    this.fields = {
      'metadata.name': name,
      'metadata.namespace': namespace,
      ...Object.fromEntries(Object.entries(resource.fields ?? {}).map(([field, read]) => [field, read(object)])),
    };
    this.json = new PackedBytes(Buffer.from(JSON.stringify(rest)));
    if (resource.protobuf) {
      writeMessage(writer, resource.protobuf, object);
      this.protobuf = new PackedBytes(writer.take());
    }
  }

  /** A new copy of the object, with the kind and version of `as`. */
  object(as: Resource = this.#resource): KubeObject {
    const body = JSON.parse(utf8.decode(this.json.unpack())) as Omit<KubeObject, 'kind' | 'apiVersion'>;
    return { kind: as.kind, apiVersion: apiVersion(as), ...body } as KubeObject;
  }

  /** The same object with another revision: what a watch shows of a deleted object. */
  at(revision: number): StoredObject {
    const object = this.object();
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    return new StoredObject(this.#resource, { ...object, metadata });
  }
}

/** What delays the deletion of an object. */
export const finalizersOf = ({ metadata }: Pick<KubeObject, 'metadata'>): readonly string[] =>
  (metadata['finalizers'] ?? []) as readonly string[];

/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export const objectKey = (namespace: string, name: string): string =>
  namespace === '' ? name : `${namespace}/${name}`;
