import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type Printed, probeScript, type Target } from '../src/packet-test/probe.ts';
import { startListening } from './support/api-server.ts';

/** An eighth of a full call. */
const PIECE_BYTES = 512 * 1_024;

/** A target that answers small calls at once. @param answer gets a full call */
async function startTarget(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
): Promise<Target> {
  const server = createServer((request, response) => {
    // A call that takes too long is broken off, and tried again.
    if (Number(request.headers['content-length']) > 1_000) Promise.resolve(answer(request, response)).catch(() => {});
    else request.pipe(response);
  });
  return { to: 'c2', by: 'pod', url: `http://127.0.0.1:${await startListening(server)}/` };
}

it('a call on a slow link comes through, and one that stops halfway fails', async () => {
  const slow = await startTarget(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      response.write(chunk);
      const before = bytes;
      bytes += chunk.length;
      // Whatever the size of the chunks: eight pauses, far from the limit of the whole call.
      if (Math.floor(bytes / PIECE_BYTES) > Math.floor(before / PIECE_BYTES)) await delay(1_000);
    }
    response.end();
  });
  const stopping = await startTarget(
    (request, response) => void request.once('data', (chunk) => response.write(chunk)),
  );
  const silent = await startTarget(() => {});
  const probe = spawn(process.execPath, ['-e', probeScript()], {
    env: { TARGETS: JSON.stringify([slow, stopping, silent]), POD_IPS: '10.2.0.9,fd00:2::9' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void probe.kill('SIGKILL'));
  const { ips, outcomes } = (await json(probe.stdout)) as Printed;
  expect(ips).toEqual(['10.2.0.9', 'fd00:2::9']);
  expect(outcomes.map(({ small, full }) => ({ small, full }))).toEqual([
    { small: null, full: null },
    { small: null, full: 'no byte for 5 s' },
    { small: null, full: 'no byte for 5 s' },
  ]);
  // 4 MiB there and back, in at least 8 s.
  expect(outcomes[0]?.bytesPerSecond).toBeLessThan(2 ** 20);
});
