import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { protobufEncoder } from '../../src/protobuf/encoder.ts';
import { builtIns } from '../../src/kinds/resources.ts';
import type { Status } from '../../src/http/status.ts';
import { StoredObject } from '../../src/storage/stored-object.ts';
import { onEachServer, read, type Server } from './harness.ts';
import { object, paths } from './objects.ts';
import { at, unwrap, walk } from './protobuf-walker.ts';

const accept = 'application/vnd.kubernetes.protobuf,application/json';
const watchAccept = 'application/vnd.kubernetes.protobuf;stream=watch';
const watchList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const fixtures = new URL('fixtures/', import.meta.url);

/** A pod with one of everything that the embedded server can put into protobuf. */
const fullPod: KubeObject = object(
  'v1 Pod',
  'full',
  {
    spec: {
      initContainers: [{ name: 'init', image: 'init:1', command: ['true'], restartPolicy: 'Always' }],
      containers: [
        {
          name: 'app',
          image: 'app:1',
          args: ['--verbose', ''],
          workingDir: '/srv',
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: [
            { name: 'GREETING', value: 'grüß Gott' },
            { name: 'IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          ],
          resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '500m', memory: '64Mi' } },
        },
      ],
      nodeName: 'n1',
      nodeSelector: { disk: 'ssd', arch: 'arm64' },
      hostname: 'full',
      subdomain: 'sub',
      activeDeadlineSeconds: 86_400,
      tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 20 }],
    },
  },
  {
    labels: { b: '2', a: '1' },
    annotations: { 'example.com/note': 'x'.repeat(300) },
    finalizers: ['example.com/wait'],
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'rs',
        uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11',
        controller: true,
        blockOwnerDeletion: false,
      },
    ],
  },
);

const fullStatus = {
  phase: 'Running',
  message: 'as it should',
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'r',
      message: 'm',
    },
    {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: '2026-01-01T00:00:01Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  hostIP: '192.0.2.1',
  hostIPs: [{ ip: '192.0.2.1' }],
  podIP: '198.51.100.1',
  podIPs: [{ ip: '198.51.100.1' }, { ip: '2001:db8::1' }],
  startTime: '2026-01-01T00:00:00Z',
  containerStatuses: [
    {
      name: 'app',
      image: 'app:1',
      imageID: 'app@sha256:0',
      containerID: 'containerd://1',
      ready: true,
      started: true,
      restartCount: 300,
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      lastState: {},
    },
  ],
  initContainerStatuses: [
    {
      name: 'init',
      image: 'init:1',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'Waits' } },
      lastState: {},
    },
  ],
};

/** A server's answers about one pod, in both encodings. */
type Recording = {
  readonly json: Buffer;
  readonly object: Buffer;
  readonly list: Buffer;
  readonly watch: Buffer[];
  readonly error: Buffer;
};

async function record(server: Server): Promise<Recording> {
  const pods = paths.pods(await server.namespace());
  await server.cluster.admin.create(pods, fullPod);
  await server.cluster.admin.request('PATCH', `${pods}/full/status`, { status: fullStatus });
  const protobuf = async (path: string) => (await server.send('GET', path, { headers: { accept } })).body;
  const stream = await server.watch(`${pods}?${watchList}`, { headers: { accept: watchAccept } });
  const watch = [await stream.frame(), await stream.frame()] as Buffer[];
  stream.close();
  return {
    json: (await server.send('GET', `${pods}/full`)).body,
    object: await protobuf(`${pods}/full`),
    list: await protobuf(pods),
    watch,
    error: await protobuf(`${pods}/missing`),
  };
}

const kinds = ['Pod', 'Status', 'PodList'];

onEachServer('protobuf', (server) => {
  let recording: Recording;
  beforeAll(async () => {
    recording = await record(server());
    if (server().cluster.kind === 'real' && process.env['UPDATE']) await save(recording);
  });

  it('has its own content type, for objects and for watches', async () => {
    const one = await server().send('GET', '/api/v1/pods', { headers: { accept } });
    const stream = await server().watch('/api/v1/pods?watch=1', { headers: { accept: watchAccept } });
    stream.close();
    expect([one.contentType, stream.contentType]).toEqual(['application/vnd.kubernetes.protobuf', watchAccept]);
  });

  it('wraps an object, a list and an error with their kind', () => {
    const wrapped = [recording.object, recording.error, recording.list].map(unwrap);
    expect(wrapped.map(({ apiVersion }) => apiVersion)).toEqual(['v1', 'v1', 'v1']);
    expect(wrapped.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('encodes items of a list like objects, with the resourceVersion of the list', () => {
    const [object, list] = [unwrap(recording.object).raw, unwrap(recording.list).raw];
    expect(at(list, 2)).toEqual(object);
    expect(Number(at(list, 1, 2))).toBeGreaterThanOrEqual(Number(at(object, 1, 6)));
  });

  it('encodes objects of events like objects, and ends the initial events', () => {
    const [added, bookmark] = recording.watch.map(walk);
    expect([at(added!, 1), at(bookmark!, 1)]).toEqual(['ADDED', 'BOOKMARK']);
    expect(bytesOfEvent(recording.watch[0]!)).toEqual(recording.object);
    const { kind, raw } = unwrap(bytesOfEvent(recording.watch[1]!));
    expect({ kind, annotation: at(raw, 1, 12) }).toEqual({
      kind: 'Pod',
      annotation: [
        [1, 'k8s.io/initial-events-end'],
        [2, 'true'],
      ],
    });
  });

  it('agrees with the JSON', () => {
    const { raw } = unwrap(recording.object);
    const pod = JSON.parse(recording.json.toString()) as KubeObject;
    expect({
      name: at(raw, 1, 1),
      namespace: at(raw, 1, 3),
      uid: at(raw, 1, 5),
      version: at(raw, 1, 6),
      phase: at(raw, 3, 1),
    }).toEqual({
      name: 'full',
      namespace: pod.metadata.namespace,
      uid: pod.metadata.uid,
      version: pod.metadata.resourceVersion,
      phase: 'Running',
    });
  });

  it('encodes early errors and ERROR events', async () => {
    const denied = await server().send('GET', '/api/v1/pods', { token: 'x', headers: { accept } });
    const stream = await server().watch(`/api/v1/pods?${watchList}&resourceVersion=100000000`, {
      headers: { accept: watchAccept },
    });
    const event = (await stream.frame())!;
    stream.close();
    expect({ status: denied.status, kind: unwrap(denied.body).kind, code: at(unwrap(denied.body).raw, 6) }).toEqual({
      status: 401,
      kind: 'Status',
      code: 401n,
    });
    expect({
      type: at(walk(event), 1),
      kind: unwrap(bytesOfEvent(event)).kind,
      code: at(unwrap(bytesOfEvent(event)).raw, 6),
    }).toEqual({
      type: 'ERROR',
      kind: 'Status',
      code: 504n,
    });
  });

  it('encodes the answer of a write if requested; otherwise the answer is JSON', async () => {
    const pods = paths.pods(await server().namespace());
    const body = object('v1 Pod', 'x', { spec: { containers: [{ name: 'app', image: 'app:1' }] } });
    const made = await server().send('POST', pods, { body, headers: { accept } });
    expect(unwrap(made.body).kind).toBe('Pod');
    const asJson = await Promise.all(
      ['application/json', '*/*', 'application/json;as=Table;v=v1;g=meta.k8s.io.invalid,application/json'].map((type) =>
        server().send('GET', `${pods}/x`, { headers: { accept: type } }),
      ),
    );
    expect(asJson.map((reply) => read(reply).kind)).toEqual(['Pod', 'Pod', 'Pod']);
    expect((await server().send('GET', `${pods}/x`, { headers: { accept: 'text/html' } })).status).toBe(406);
  });
});

describe('the embedded encoder, compared with recorded answers of a real server', () => {
  const pods = builtIns.find(({ plural }) => plural === 'pods')!;
  const load = (name: string) => readFile(new URL(name, fixtures));
  const join = (chunks: Iterable<Uint8Array>) => Buffer.concat([...chunks]);

  it('writes the same fields of a pod, of a list and of an event', async () => {
    const json = JSON.parse((await load('pod.json')).toString()) as KubeObject;
    const stored = new StoredObject(pods, json);
    const [list, event, bookmark] = [await load('list.bin'), await load('added.bin'), await load('bookmark.bin')];
    expect(unwrap(join(protobufEncoder.object(pods, stored)))).toEqual(unwrap(await load('pod.bin')));

    const resourceVersion = at(unwrap(list).raw, 1, 2) as string;
    expect(unwrap(join(protobufEncoder.list(pods, { resourceVersion }, [stored])))).toEqual(unwrap(list));

    const written = join(protobufEncoder.event('ADDED', pods, stored)).subarray(4);
    expect(at(walk(written), 1)).toBe('ADDED');
    expect(unwrap(bytesOfEvent(written))).toEqual(unwrap(bytesOfEvent(event)));

    const version = at(unwrap(bytesOfEvent(bookmark)).raw, 1, 6) as string;
    const end = join(protobufEncoder.bookmark(pods, version, true)).subarray(4);
    expect(unwrap(bytesOfEvent(end))).toEqual(unwrap(bytesOfEvent(bookmark)));
  });

  it('writes the same fields of an error', async () => {
    const status: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'pods "missing" not found',
      reason: 'NotFound',
      details: { name: 'missing', kind: 'pods' },
      code: 404,
    };
    expect(unwrap(join(protobufEncoder.status(status)))).toEqual(unwrap(await load('error.bin')));
  });
});

/** `UPDATE=1 npx vitest run --project real encoding` records anew. */
async function save({ json, object: one, list, watch, error }: Recording): Promise<void> {
  await mkdir(fixtures, { recursive: true });
  const files = {
    'pod.json': json,
    'pod.bin': one,
    'list.bin': list,
    'added.bin': watch[0]!,
    'bookmark.bin': watch[1]!,
    'error.bin': error,
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(new URL(name, fixtures), bytes);
}

/** The enveloped object of a WatchEvent: field 2 holds a RawExtension, whose field 1 is the bytes. */
function bytesOfEvent(event: Buffer): Buffer {
  return event.subarray(event.indexOf('k8s\0'));
}
