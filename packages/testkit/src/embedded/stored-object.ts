import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { KubeObject } from '../cluster.ts';
import { writeMessage } from './protobuf/schema.ts';
import { Writer } from './protobuf/writer.ts';
import { apiVersion, type Resource } from './resources.ts';

/** Below this many bytes compression costs more than it saves. */
const COMPRESS_FROM_BYTES = 4096;

const writer = new Writer();

/**
 * One version of one object; it never changes. Objects are kept as bytes, for 20,000 pods as trees don't fit in the
 * memory of a test: JSON deflated to about a sixth, protobuf ready to be sent, and as values only what selectors and
 * preconditions look at.
 */
export class StoredObject {
  /** Unique within the resource, and the order of lists. */
  readonly key: string;
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Values for field selectors. */
  readonly fields: Readonly<Record<string, string>>;
  readonly #resource: Resource;
  readonly #json: Buffer;
  readonly #deflated: boolean;
  #protobuf: Buffer | undefined;

  /** @param object complete, with its resourceVersion; it isn't kept */
  constructor(resource: Resource, object: KubeObject) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    const { name, namespace = '', uid = '', labels = {} } = object.metadata;
    this.#resource = resource;
    this.name = name;
    this.namespace = namespace;
    this.key = objectKey(namespace, name);
    this.uid = uid;
    this.revision = Number(object.metadata.resourceVersion);
    this.labels = labels;
    this.fields = {
      'metadata.name': name,
      'metadata.namespace': namespace,
      ...Object.fromEntries(Object.entries(resource.fields ?? {}).map(([field, read]) => [field, read(object)])),
    };
    const json = Buffer.from(JSON.stringify(rest));
    this.#deflated = json.length >= COMPRESS_FROM_BYTES;
    this.#json = this.#deflated ? deflateRawSync(json, { level: constants.Z_BEST_SPEED }) : json;
    if (resource.protobuf) this.#protobuf = this.#encode(object);
  }

  /** JSON text without `kind` and `apiVersion`, as the items of built-in lists are. */
  json(): Buffer {
    return this.#deflated ? inflateRawSync(this.#json) : this.#json;
  }

  /** The object as a tree of its own, with the kind and version of `as`. */
  object(as: Pick<Resource, 'kind' | 'group' | 'version'> = this.#resource): KubeObject {
    const body = JSON.parse(this.json().toString()) as Omit<KubeObject, 'kind' | 'apiVersion'>;
    return { kind: as.kind, apiVersion: apiVersion(as), ...body } as KubeObject;
  }

  /** The same object under another revision: what a watch shows of one that is gone. */
  at(revision: number): StoredObject {
    const object = this.object();
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    return new StoredObject(this.#resource, { ...object, metadata });
  }

  /** The message of the kind, without an envelope. @throws {Error} if the kind has no protobuf table */
  protobuf(): Buffer {
    return this.#protobuf ?? this.#encode(this.object());
  }

  /** Says that a newer version took this one's place: what can be made again from JSON is forgotten. */
  supersede(): void {
    this.#protobuf = undefined;
  }

  #encode(object: KubeObject): Buffer {
    if (!this.#resource.protobuf) throw new Error(`no protobuf for ${this.#resource.plural}`);
    writeMessage(writer, this.#resource.protobuf, object);
    return writer.take();
  }
}

/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export const objectKey = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);
