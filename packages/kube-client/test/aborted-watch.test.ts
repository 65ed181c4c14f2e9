import { Codec, podKind } from '@kube-semaphore/kube-objects';
import { startScriptedServer, uncaughtErrors } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { openClient } from './open-client.ts';

const event = (name: string) =>
  JSON.stringify({
    type: 'ADDED',
    object: { kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1' } },
  });

it('raises no uncaught error when a watch is aborted after its last byte came and before it was read', async () => {
  // Its watches end at once, in the chunk that has their events.
  const { kubeconfig, stop } = await startScriptedServer([], (_request, response) => {
    const body = `${event('a')}\n${event('b')}\n`;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  onTestFinished(stop);
  const { client } = await openClient(kubeconfig);
  const { errors, restore } = uncaughtErrors();
  onTestFinished(restore);
  for (let round = 0; round < 20; round += 1) {
    const aborter = new AbortController();
    const stream = await client.watch(new Codec(podKind), {
      signal: aborter.signal,
      timeoutSeconds: 60,
      idleTimeoutMs: 30_000,
    });
    const read = async () => {
      for await (const _events of stream) aborter.abort();
    };
    await Promise.allSettled([read()]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(errors).toEqual([]);
});
