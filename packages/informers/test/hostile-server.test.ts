import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { eventually } from '@kube-semaphore/eventually';
import { type ScriptedAnswer as Answer, startScriptedServer } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { RemoteBudget } from '../src/index.ts';
import { connectTo, LONG_TIMEOUTS, reflectPods } from './reflect-pods.ts';

/** A scripted server with a connection to it. */
async function startServer(answers: readonly Answer[], then: Answer) {
  const { kubeconfig, requests, stop } = await startScriptedServer(answers, then);
  const connection = await connectTo(kubeconfig);
  return { connection, requests, stop: () => (connection.close(), stop()) };
}

const pod = (name: string, ip: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '7' },
  status: { podIPs: [{ ip }] },
});

const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

const endOfInitialEvents = event('BOOKMARK', {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
});

/** A watch that sends `text` and stays open. */
const watch =
  (text: string, contentType = 'application/json'): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.write(text);
  };

const status =
  (code: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body);

const statusObject = (code: number, reason: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message: `it is ${reason}` });

/** A correct server: one pod by WatchList and by pages, and a watch without events. */
function correct(request: IncomingMessage, response: ServerResponse): void {
  const query = new URL(request.url ?? '', 'https://x').searchParams;
  if (query.has('sendInitialEvents'))
    watch(event('ADDED', pod('good', '10.0.0.1')) + endOfInitialEvents)(request, response);
  else if (query.has('watch')) watch('')(request, response);
  else
    status(
      200,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'PodList',
        metadata: { resourceVersion: '9' },
        items: [pod('good', '10.0.0.1')],
      }),
    )(request, response);
}

const protobufFrame = (bytes: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]).toString('latin1');
};

/** An answer as it is on the wire, which the server doesn't end. */
const raw =
  (text: string): Answer =>
  ({ socket }) =>
    void socket.write(text);

const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

/** A pause that ends with the test. */
const forever = (_ms: number, { signal }: { signal: AbortSignal }) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

const PROTOBUF_WATCH = 'application/vnd.kubernetes.protobuf;stream=watch';

it.each([
  { name: 'a line that is not JSON', answer: watch('{"type":\n'), reason: 'garbage' },
  { name: 'HTML with status 200', answer: watch('<html>\n', 'text/html'), reason: 'garbage' },
  { name: 'an unknown event type', answer: watch(event('RENAMED', pod('a', '10.0.0.2'))), reason: 'garbage' },
  {
    name: 'an object of another kind',
    answer: watch(event('ADDED', { ...pod('a', '10.0.0.2'), kind: 'Secret' })),
    reason: 'garbage',
  },
  {
    name: 'a field of another type',
    answer: watch(event('ADDED', { ...pod('a', '10.0.0.2'), status: { podIPs: 7 } })),
    reason: 'garbage',
  },
  {
    name: 'a bookmark without a version',
    answer: watch(event('BOOKMARK', { apiVersion: 'v1', kind: 'Pod', metadata: {} })),
    reason: 'garbage',
  },
  { name: 'a line over 10 MiB', answer: watch('x'.repeat(10 * 1024 * 1024 + 1)), reason: 'garbage' },
  {
    name: 'a protobuf frame with a length over 4 MiB',
    answer: watch('\x00\x40\x00\x01', PROTOBUF_WATCH),
    reason: 'garbage',
  },
  {
    name: 'an event that would take 56 MB of memory',
    answer: watch(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}\n`),
    reason: 'garbage',
  },
  {
    name: 'bytes that are not protobuf',
    answer: watch(protobufFrame(Buffer.from('ffffffffff', 'hex')), PROTOBUF_WATCH),
    reason: 'garbage',
  },
  {
    name: 'a protobuf frame with a length of 4 GiB',
    answer: watch('\xff\xff\xff\xff', PROTOBUF_WATCH),
    reason: 'garbage',
  },
  {
    name: 'an end in the middle of an event',
    answer: ((_, response) => void response.end('{"type":')) as Answer,
    reason: 'garbage',
  },
  { name: 'a redirect', answer: status(302, '', { location: 'https://127.0.0.1:1/' }), reason: 'rejected' },
  { name: 'silence', answer: (() => {}) as Answer, reason: 'unreachable', isSilent: true },
  {
    name: 'a closed connection',
    answer: ((request) => void request.socket.destroy()) as Answer,
    reason: 'unreachable',
  },
  {
    name: 'a thousand answers before the answer',
    answer: raw('HTTP/1.1 102 .\r\n\r\n'.repeat(1_000)),
    reason: 'unreachable',
  },
  { name: '500', answer: status(500, statusObject(500, 'InternalError')), reason: 'server_error' },
  { name: '503 without a Status', answer: status(503, 'upstream connect error'), reason: 'server_error' },
  {
    name: '429',
    answer: status(429, statusObject(429, 'TooManyRequests'), { 'retry-after': '1' }),
    reason: 'throttled',
  },
  { name: '401', answer: status(401, statusObject(401, 'Unauthorized')), reason: 'denied' },
  {
    name: 'an ERROR event with 410',
    answer: watch(`{"type":"ERROR","object":${statusObject(410, 'Expired')}}\n`),
    reason: 'expired',
  },
  { name: 'an end at once', answer: ((_, response) => void response.end()) as Answer, reason: 'unreachable' },
])('$name costs only a retry', async ({ answer, reason, isSilent = false }) => {
  // Twice, so that it also answers the pages that follow a refused WatchList.
  const server = await startServer([answer, answer], correct);
  const { store, restarts, stop } = reflectPods(server.connection, isSilent ? {} : LONG_TIMEOUTS);
  try {
    await eventually(() => store.view.synced, true);
    expect(store.view).toEqual({
      synced: true,
      objects: new Map([['ns/good', { uid: 'uid-good', ips: ['10.0.0.1'] }]]),
    });
    expect(restarts).toContain(reason);
  } finally {
    await stop();
    await server.stop();
  }
});

it('keeps the known objects, and continues from there, when a good watch sends garbage', async () => {
  const good = event('ADDED', pod('good', '10.0.0.1')) + endOfInitialEvents;
  const server = await startServer([watch(`${good}${event('ADDED', pod('later', '10.0.0.2'))}rubbish\n`)], correct);
  const { store, restarts, stop } = reflectPods(server.connection, LONG_TIMEOUTS);
  try {
    await eventually(
      () => server.requests.some(({ url }) => url.includes('watch=true') && url.includes('resourceVersion=7')),
      true,
    );
    expect(restarts).toEqual(['garbage']);
    expect(store.size).toBe(2);
  } finally {
    await stop();
    await server.stop();
  }
});

const emptyList = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '9' }, items: [] });

it.each([
  { name: 'is over 16 MiB', answer: status(200, emptyList + ' '.repeat(16 * 1024 * 1024)) },
  // Two bytes each, and 56 in memory.
  {
    name: 'would take over 32 MiB of memory',
    answer: status(200, `{"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},${emptyList.slice(1)}`),
  },
  // One byte each, and hundreds in memory.
  {
    name: 'has 70,000 chunks',
    answer: raw(
      `${CHUNKED}${'1\r\n \r\n'.repeat(70_000)}${emptyList.length.toString(16)}\r\n${emptyList}\r\n0\r\n\r\n`,
    ),
  },
])('requests smaller pages when a page $name', async ({ answer }) => {
  const server = await startServer([answer], correct);
  const { store, restarts, stop } = reflectPods(server.connection, { ...LONG_TIMEOUTS, watchList: 'never' });
  try {
    await eventually(() => store.view.synced, true);
    expect(restarts).toEqual([]);
    expect(
      server.requests.map(({ url }) => new URL(url, 'https://x').searchParams.get('limit')).filter(Boolean),
    ).toEqual(['500', '250']);
  } finally {
    await stop();
    await server.stop();
  }
});

const page = (token: string, ...items: readonly object[]) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '9', continue: token }, items });

it.each([
  { name: 'empty pages', items: [] },
  { name: 'the same page repeated', items: [pod('good', '10.0.0.1')] },
])('gives up an endless list with $name', async ({ items }) => {
  let asked = 0;
  const server = await startServer([], (request, response) =>
    status(200, page(`token-${++asked}`, ...items))(request, response),
  );
  const { store, restarts, stop } = reflectPods(server.connection, {
    ...LONG_TIMEOUTS,
    watchList: 'never',
    sleep: forever,
  });
  try {
    await eventually(() => restarts.length > 0, true);
    expect(restarts).toEqual(['garbage']);
    expect(store.view.synced).toBe(false);
    expect(server.requests.length).toBeLessThan(500);
  } finally {
    await stop();
    await server.stop();
  }
});

/** A byte every 10 ms, until the connection closes. */
function trickle(to: Writable, byte = 'x'): void {
  const timer = setInterval(() => to.write(byte), 10);
  to.once('close', () => clearInterval(timer));
}

it.each<{ name: string; answer: Answer }>([
  {
    name: 'begins an event and never ends it',
    answer: (_, response) => trickle(response.writeHead(200, { 'content-type': 'application/json' })),
  },
  {
    name: 'begins the length of a chunk and never ends it',
    answer: ({ socket }) => {
      socket.write(CHUNKED);
      trickle(socket, '0');
    },
  },
  { name: 'is refused in a Status that never ends', answer: (_, response) => trickle(response.writeHead(500)) },
  {
    name: 'begins a header and never ends it',
    answer: ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\na: ');
      trickle(socket);
    },
  },
])('treats a watch that $name as silent', async ({ answer }) => {
  const server = await startServer([answer], correct);
  const { stop } = reflectPods(server.connection, { ...LONG_TIMEOUTS, initialEventsIdleMs: 1_500 });
  try {
    await eventually(() => server.requests.length > 1, true);
  } finally {
    await stop();
    await server.stop();
  }
});

it.each([
  { name: '23 days', seconds: 2_000_000 },
  { name: 'longer than a timer can wait', seconds: 3_000_000 },
  { name: 'more seconds than a number can hold', seconds: Number.MAX_SAFE_INTEGER },
])('waits at most 66 minutes when the server requests $name', async ({ seconds }) => {
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Status',
    code: 429,
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: seconds },
  });
  const server = await startServer([watch(`{"type":"ERROR","object":${body}}\n`)], correct);
  const pausesMs: number[] = [];
  const sleep = (ms: number, options: { signal: AbortSignal }) => (pausesMs.push(ms), forever(ms, options));
  const { reflector, stop } = reflectPods(server.connection, { ...LONG_TIMEOUTS, random: () => 0.999, sleep });
  try {
    await eventually(() => pausesMs.length > 0, true);
    expect(pausesMs[0]).toBeGreaterThan(3_600_000);
    expect(pausesMs[0]).toBeLessThanOrEqual(1.1 * 3_600_000);
    // While it waits, it doesn't hang.
    expect(reflector.silentMs).toBeLessThan(0);
  } finally {
    await stop();
    await server.stop();
  }
});

/** Events of `count` Pods of more than 1 kB each. */
const endless = (type: string, count: number): string => {
  const parts = Array.from({ length: count }, (_, i) => event(type, pod(`pod-${i}`, 'x'.repeat(1_000))));
  return parts.join('');
};

describe('a remote that has more than its budget', () => {
  const limits = { objects: 100, bytes: 64 * 1024 * 1024 };

  it.each([
    { name: 'in a list', text: endless('ADDED', 500) },
    { name: 'in a watch', text: endOfInitialEvents + endless('ADDED', 500) },
  ])('$name stops with its known objects, and continues when it has less', async ({ text }) => {
    const server = await startServer([watch(text)], correct);
    const stops: { error: unknown; delayMs: number; known: number }[] = [];
    const onRestart = ({ error, delayMs }: { error: unknown; delayMs: number }) =>
      void stops.push({ error, delayMs, known: reflected.store.size });
    const reflected = reflectPods(server.connection, {
      ...LONG_TIMEOUTS,
      budget: new RemoteBudget(limits),
      sleep: () => Promise.resolve(),
      hooks: { onRestart },
    });
    const { store, stop } = reflected;
    try {
      await eventually(() => store.view.synced && store.size === 1 && store.view.objects.has('ns/good'), true);
      expect(stops).toMatchObject([{ error: { code: 'KUBE_OVER_BUDGET', budget: 'objects' }, known: 100 }]);
      expect(stops[0]?.delayMs).toBeGreaterThanOrEqual(300_000);
    } finally {
      await stop();
      await server.stop();
    }
  });

  it('counts all known objects again after a list that failed, and none after the end', async () => {
    const three = ['a', 'b', 'c'].map((name) => event('ADDED', pod(name, '10.0.0.1'))).join('');
    const expired = event('ERROR', JSON.parse(statusObject(410, 'Expired')) as object);
    const failing = watch(`${event('ADDED', pod('a', '10.0.0.1'))}rubbish\n`);
    const server = await startServer([watch(three + endOfInitialEvents + expired), failing], correct);
    const budget = new RemoteBudget({ ...limits, objects: 3 });
    const sleep = (ms: number, options: { signal: AbortSignal }) =>
      restarts.length < 2 ? Promise.resolve() : forever(ms, options);
    const { restarts, store, stop } = reflectPods(server.connection, { ...LONG_TIMEOUTS, budget, sleep });
    try {
      await eventually(() => restarts, ['expired', 'garbage']);
      expect(store.size).toBe(3);
      expect(() => budget.check()).toThrow('budget of 3 objects');
      await stop();
      expect(() => budget.check()).not.toThrow();
    } finally {
      await stop();
      await server.stop();
    }
  });
});

it.each([
  { name: 'has 250,000 addresses', status: { podIPs: Array(250_000).fill({}) } },
  // As much as etcd takes; each is six bytes in JSON.
  { name: 'is full of control characters', status: { phase: '\u0001'.repeat(1.5 * 1024 * 1024) } },
])('skips an object that $name, and reads its neighbours', async ({ status: filled }) => {
  const large = { ...pod('large', '10.0.0.2'), status: filled };
  const server = await startServer(
    [
      watch(
        event('ADDED', pod('a', '10.0.0.1')) +
          event('ADDED', large) +
          event('ADDED', pod('z', '10.0.0.3')) +
          endOfInitialEvents,
      ),
    ],
    correct,
  );
  const { addresses, restarts, store, stop } = reflectPods(server.connection, LONG_TIMEOUTS);
  try {
    await eventually(() => store.view.synced, true);
    expect(addresses()).toEqual({ 'ns/a': ['10.0.0.1'], 'ns/z': ['10.0.0.3'] });
    expect(restarts).toEqual([]);
  } finally {
    await stop();
    await server.stop();
  }
});
