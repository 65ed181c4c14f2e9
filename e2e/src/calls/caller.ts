#!/usr/bin/env -S node --max-semi-space-size=1
/**
 * The program in the calling Pod: it requests a URL periodically, without waiting for answers, each time with a new
 * connection and name lookup, and prints the result of each call as JSON.
 */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const [, , url = '', intervalMs = '50', timeoutMs = '2000'] = process.argv;

/**
 * The first source port. Each call has its own, which identifies it on the network. They are above
 * the ephemeral ports (32768 to 60999), such as curl's, whose port stays taken for a minute
 * afterwards. API servers have lower ones.
 */
const FIRST_PORT = 61_000;
const PORTS = 4_500;

/** A timeout counts these. One that a busy machine delays counts once: meanwhile, no answer could be read either. */
const TICK_MS = 50;

async function call(n: number): Promise<void> {
  const [at, startMs] = [Date.now(), performance.now()];
  const localPort = FIRST_PORT + (n % PORTS);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timeout = new AbortController();
  let ticks = Number(timeoutMs) / TICK_MS;
  const timer = setInterval(() => {
    if (--ticks < 0) timeout.abort(new Error('timeout'));
  }, TICK_MS);
  get(
    url,
    { agent: false, family: 4, localPort, signal: timeout.signal },
    (response) => void text(response).then(resolve, reject),
  ).on('error', reject);
  const answer = await promise.then(
    (body) => JSON.parse(body) as object,
    (error: unknown) => ({ error: String(error) }),
  );
  clearInterval(timer);
  process.stdout.write(`${JSON.stringify({ n, at, ms: performance.now() - startMs, port: localPort, ...answer })}\n`);
}

process.once('SIGTERM', () => process.exit());
for (let n = 0; ; n++) {
  void call(n);
  await delay(Number(intervalMs));
}
