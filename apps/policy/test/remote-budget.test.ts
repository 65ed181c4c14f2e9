import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createAuthority, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it as base } from './support/it.ts';

const MIB = 1024 * 1024;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

/** A protobuf field of bytes. */
function field(number: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A frame of a watch: an event about a Pod with this metadata and status. */
function frame(type: string, metadata: readonly Buffer[], status: Buffer = Buffer.alloc(0)): Buffer {
  const raw = Buffer.concat([field(1, ...metadata), field(3, status)]);
  const envelope = Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, 'v1'), field(2, 'Pod')), field(2, raw)]);
  const event = Buffer.concat([field(1, type), field(2, field(1, envelope))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

const label = field(11, field(1, 'semaphore.uw.systems/name'), field(2, 'app'));
const podMetadata = (name: string, uid: string) => [
  field(1, name),
  field(3, 'ns'),
  field(5, uid),
  field(6, '2'),
  label,
];

const endMark = field(12, field(1, 'k8s.io/initial-events-end'), field(2, 'true'));
const endOfInitialEvents = frame('BOOKMARK', [field(6, '1'), endMark]);

/** An empty API server that then sends the frames of a test. */
async function startHostileServer() {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ usage: 'server', commonName: 'hostile', ips: ['127.0.0.1'] });
  const watches = new Set<ServerResponse>();
  const server = createServer({ cert: certPem, key: keyPem }, ({ url = '' }, response) => {
    if (!url.includes('watch=true')) return void response.writeHead(404).end();
    response
      .writeHead(200, { 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' })
      .write(endOfInitialEvents);
    watches.add(response);
    response.once('close', () => watches.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dir = await mkdtemp(join(tmpdir(), 'hostile-'));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeConfigPath = await writeKubeconfig(join(dir, 'kubeconfig'), {
    name: 'hostile',
    url,
    caPem: authority.caPem,
    credentials: { token: 'x' },
  });
  return {
    kubeConfigPath,
    async send(frames: readonly Buffer[]): Promise<void> {
      const [watch] = await eventually(() => (watches.size > 0 ? [...watches] : undefined), isDefined);
      Readable.from(frames).pipe(watch!, { end: false });
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await rm(dir, { recursive: true });
    },
  };
}

const it = base.extend('hostile', async ({ names: _names }, { onCleanup }) => {
  const hostile = await startHostileServer();
  onCleanup(() => hostile.stop());
  return hostile;
});

/** 3 MiB, which decode to about 500 MiB. */
const bomb = [frame('ADDED', podMetadata('bomb', 'uid'), Buffer.alloc(3 * MIB, Buffer.from([(12 << 3) | 2, 0])))];
/** 42 MB; 7,500 of them are 16 MiB. */
const crowd = Array.from({ length: 20_000 }, (_, i) =>
  frame('ADDED', podMetadata(`${'n'.repeat(1_000)}${i}`, 'u'.repeat(1_000))),
);

describe('a remote that would fill the memory', () => {
  it.for([
    {
      name: 'by one Pod',
      frames: bomb,
      metric: 'skipped_objects',
      labels: { remote: 'c3', reason: 'too-large', kind: 'problem' },
      up: 1,
    },
    {
      name: 'by many Pods',
      frames: crowd,
      metric: 'remote_over_budget',
      labels: { remote: 'c3', budget: 'bytes' },
      up: 0,
    },
  ])(
    '$name does not affect the others, and is reported',
    async ({ frames, metric, labels, up }, { configFile, hostile, pods, sets, startWith }) => {
      const config = await configFile({ name: 'c2' }, { name: 'c3', kubeConfigPath: hostile.kubeConfigPath });
      await pods.add({ name: 'before', app: 'app', ips: ['10.4.0.1'] });
      const policy = await startWith([
        '-config',
        config,
        '-listen-address=127.0.0.1:0',
        '-max-remote-mib=16',
        '-label-domain=semaphore.uw.systems',
      ]);
      await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
      const memory = async () => (await policy.metric('process_resident_memory_bytes')) ?? Infinity;
      const before = await memory();
      await hostile.send(frames);
      await eventually(() => policy.metric(`semaphore_policy_${metric}`, labels), 1);
      await eventually(() => policy.metric('semaphore_policy_remote_up', { remote: 'c3' }), up);
      await pods.add({ name: 'after', app: 'app', ips: ['10.4.0.2'] });
      await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] });
      expect(await memory()).toBeLessThan(before + 100 * MIB);
      expect((await policy.get('/healthz')).status).toBe(200);
      expect(await policy.metric('semaphore_policy_remote_up', { remote: 'c2' })).toBe(1);
    },
  );
});
