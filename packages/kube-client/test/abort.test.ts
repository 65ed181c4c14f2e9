import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@kube-semaphore/cluster-auth';
import { Codec, podKind } from '@kube-semaphore/kube-objects';
import { createAuthority, writeKubeconfig } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { KubeClient } from '../src/index.ts';

const event = (name: string) => JSON.stringify({ type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1' } } });

/** A server whose watches end at once, in the very piece that has their events. */
async function startServer() {
  const authority = createAuthority();
  const { certPem, keyPem } = authority.issue({ usage: 'server', commonName: 'short', ips: ['127.0.0.1'] });
  const server = createServer({ cert: certPem, key: keyPem }, (_request, response) => {
    const body = `${event('a')}\n${event('b')}\n`;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dir = await mkdtemp(join(tmpdir(), 'short-'));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = await writeKubeconfig(join(dir, 'kubeconfig'), { name: 'short', url, caPem: authority.caPem, credentials: { token: 'x' } });
  const connection = await connect({ kind: 'kubeconfig', path }, { env: {}, log: { info: () => {}, warn: () => {} } });
  onTestFinished(async () => {
    connection.close();
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true });
  });
  return connection;
}

it('a watch that is aborted after its last byte came, and before it was read to its end, throws nothing that nobody catches', async () => {
  const connection = await startServer();
  const client = new KubeClient({ connection, userAgent: 'test' });
  const uncaught: unknown[] = [];
  const listen = (error: unknown) => void uncaught.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', listen);
  onTestFinished(() => {
    process.off('uncaughtException', listen);
    for (const other of others) process.on('uncaughtException', other);
  });
  for (let round = 0; round < 20; round += 1) {
    const aborter = new AbortController();
    const stream = await client.watch(new Codec(podKind), { signal: aborter.signal, timeoutSeconds: 60, idleTimeoutMs: 30_000 });
    const read = async () => {
      for await (const _events of stream) aborter.abort();
    };
    await Promise.allSettled([read()]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(uncaught).toEqual([]);
});
