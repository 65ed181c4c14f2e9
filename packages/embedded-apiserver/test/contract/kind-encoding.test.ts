import { readFile, writeFile } from 'node:fs/promises';
import {
  Codec,
  endpointSliceKind,
  endpointsKind,
  namespaceKind,
  networkPolicyKind,
  nodeKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { protobufEncoder } from '../../src/protobuf/encoder.ts';
import { builtIns } from '../../src/kinds/resources.ts';
import { StoredObject } from '../../src/storage/stored-object.ts';
import { type FullObject, fullObjects } from './full-objects.ts';
import { onEachServer, type Server } from './harness.ts';
import { unwrap } from './protobuf-walker.ts';

const accept = 'application/vnd.kubernetes.protobuf;stream=watch';
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const kinds = [serviceKind, endpointSliceKind, endpointsKind, namespaceKind, networkPolicyKind, nodeKind];

/** A server's answers about one object: the JSON, and the event of a watch. */
type Recording = { readonly json: Buffer; readonly event: Buffer };

async function record(server: Server, { path, object }: FullObject): Promise<Recording> {
  const collection = path(await server.namespace());
  await server.cluster.admin.create(collection, object);
  const { name } = object.metadata;
  const watch = await server.watch(`${collection}?${watchList}&fieldSelector=metadata.name%3D${name}`, {
    headers: { accept },
  });
  const event = (await watch.frame())!;
  watch.close();
  return { json: (await server.send('GET', `${collection}/${name}`)).body, event };
}

const parse = (json: Buffer) => JSON.parse(json.toString()) as KubeObject;

/** The enveloped object of a WatchEvent. */
const objectIn = (event: Buffer) => unwrap(event.subarray(event.indexOf('k8s\0')));

/** The embedded server's protobuf for this JSON. */
function encoded(resource: string, json: Buffer) {
  const kind = builtIns.find(({ plural }) => plural === resource)!;
  return unwrap(Buffer.concat([...protobufEncoder.object(kind, new StoredObject(kind, parse(json)))]));
}

/** What our programs read from either encoding. */
function projections(resource: string, { json, event }: Recording) {
  const codec = new Codec(kinds.find(({ plural }) => plural === resource)!);
  return { json: codec.objectFromJson(parse(json)), protobuf: codec.eventFromProtobuf(event, 0, event.length) };
}

onEachServer('a kind in protobuf', (server) => {
  describe.each(fullObjects)('$name', (full) => {
    let recording: Recording;
    beforeAll(async () => {
      recording = await record(server(), full);
      if (server().cluster.kind === 'real' && process.env['UPDATE']) await save(full, recording);
    });

    it('has the fields that the embedded encoder gives it', () => {
      expect(encoded(full.resource, recording.json)).toEqual(objectIn(recording.event));
    });

    it('decodes to the same as its JSON', () => {
      const { json, protobuf } = projections(full.resource, recording);
      expect(protobuf).toStrictEqual({ type: 'ADDED', object: json });
    });
  });
});

describe.each(fullObjects)('the recorded $name of a real server', ({ name, resource }) => {
  let recording: Recording;
  beforeAll(async () => {
    recording = { json: await readFile(fixture(name, 'json')), event: await readFile(fixture(name, 'bin')) };
  });

  it('has the fields that the embedded encoder gives it', () => {
    expect(encoded(resource, recording.json)).toEqual(objectIn(recording.event));
  });

  it('decodes to the same as its JSON', () => {
    const { json, protobuf } = projections(resource, recording);
    expect(protobuf).toStrictEqual({ type: 'ADDED', object: json });
  });
});

const fixture = (name: string, extension: string) => new URL(`fixtures/${name}.${extension}`, import.meta.url);

/** `UPDATE=1 npx vitest run --project real kind-encoding` records new fixtures. */
async function save({ name }: FullObject, { json, event }: Recording): Promise<void> {
  await writeFile(fixture(name, 'json'), json);
  await writeFile(fixture(name, 'bin'), event);
}
