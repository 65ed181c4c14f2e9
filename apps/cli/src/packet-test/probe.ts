import type { RequestListener } from 'node:http';

/** Where a Pod listens. */
export const PORT = 8080;

/** A way to another cluster. */
export type Target = {
  readonly to: string;
  /** `port`: a port of a Service that isn't ours. */
  readonly by: 'pod' | 'service' | 'name' | 'port';
  /** `tcp:` is only connected to. */
  readonly url: string;
};

/** What came through on that way. A small call fits into one packet; a full one needs packets of the whole MTU. */
export type Outcome = Target & {
  /** Why the calls failed; null: they were answered. For a connection, `refused`, `timed out`, or other words. */
  readonly small: string | null;
  /** Null for a connection. */
  readonly full: string | null;
  /** Where it came from, as the other Pod says: anything. Null: it doesn't know, or wasn't reached. */
  readonly sourceAddress: string | null;
  /** Of a small call: the median. Null if they failed. */
  readonly latencyMs: number | null;
  /** Bytes per second, there and back. Null if the full calls failed. */
  readonly bytesPerSecond: number | null;
};

/** What a Pod prints in the end: its own addresses, and the outcomes in the order of its targets. */
export type Printed = { readonly ips: readonly string[]; readonly outcomes: readonly Outcome[] };

/**
 * The program of a Pod: without `TARGETS`, it returns what it is sent, and says from where; with them, it calls each, and prints
 * the outcomes. `POD_IPS` are its own addresses.
 */
export const probeScript = (): string => `(${probe.toString()})(${PORT})`;

/** Runs in a Pod, from its text: it uses nothing from outside. */
// oxlint-disable-next-line max-lines-per-function -- so it can't be several functions
async function probe(port: number): Promise<void> {
  const http = process.getBuiltinModule('node:http');
  const net = process.getBuiltinModule('node:net');
  const SOURCE = 'source-address';
  const { TARGETS: targets, POD_IPS: ips = '' } = process.env;
  if (targets === undefined) {
    const plain = (ip = ''): string => ip.replace(/^::ffff:/, '');
    const answer: RequestListener = (request, response) => {
      const source = plain(request.socket.remoteAddress);
      // A sidecar calls from this Pod itself. Where it was called from, only the sidecar knows.
      const isSidecar = source === plain(request.socket.localAddress) || /^127\.|^::1$/.test(source);
      if (!isSidecar) response.setHeader(SOURCE, source);
      request.pipe(response);
    };
    http.createServer(answer).listen(port);
    return;
  }
  // Without a byte in either direction: a full call on a slow link may last longer, up to the limit.
  const TIMEOUT_MS = 5_000;
  const LIMIT_MS = 40_000;
  // A mirror and its name may follow a few seconds later.
  const RETRY_MS = 30_000;
  const call = (url: string, bytes: number): Promise<{ readonly ms: number; readonly source: string | null }> =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      let received = 0;
      const options = { method: 'POST', timeout: TIMEOUT_MS, signal: AbortSignal.timeout(LIMIT_MS) };
      const request = http.request(url, options, (response) => {
        response.on('data', (chunk: Buffer) => (received += chunk.length));
        response.on('error', reject);
        response.on('end', () => {
          const said = response.headers[SOURCE];
          const source = typeof said === 'string' ? said.slice(0, 100) : null;
          if (received === bytes) resolve({ ms: performance.now() - start, source });
          else reject(new Error(`${received} of ${bytes} bytes came back`));
        });
      });
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error(`no byte for ${TIMEOUT_MS / 1_000} s`)));
      request.end(Buffer.alloc(bytes));
    });
  const attempt = async <T extends object>(work: () => Promise<T>): Promise<T | string> => {
    const until = performance.now() + RETRY_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > until) return (error as Error).message;
        await new Promise((resolve) => void setTimeout(resolve, 500));
      }
    }
  };
  const connect = (url: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const { hostname, port: number } = new URL(url);
      const socket = net.connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(number) });
      // With the time that its name takes.
      const timer = setTimeout(() => socket.destroy(new Error('timed out')), TIMEOUT_MS);
      socket.on('connect', () => {
        resolve(performance.now() - start);
        socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ECONNREFUSED' ? new Error('refused') : error),
      );
      socket.on('close', () => clearTimeout(timer));
    });
  const outcomes = (JSON.parse(targets) as Target[]).map(async (target): Promise<Outcome> => {
    if (target.url.startsWith('tcp:')) {
      const found = await connect(target.url).catch((error: Error) => error.message);
      const isConnected = typeof found === 'number';
      const rest = { full: null, sourceAddress: null, latencyMs: isConnected ? found : null, bytesPerSecond: null };
      return { ...target, small: isConnected ? null : found, ...rest };
    }
    const median = await attempt(async () => {
      const answers = [];
      for (let i = 0; i < 5; i++) answers.push(await call(target.url, 64));
      return answers.toSorted((a, b) => a.ms - b.ms)[2]!;
    });
    const nothing = { sourceAddress: null, latencyMs: null, bytesPerSecond: null };
    if (typeof median === 'string') return { ...target, small: median, full: 'not tried', ...nothing };
    const BYTES = 4 * 1024 * 1024;
    const full = await attempt(() => call(target.url, BYTES));
    const isSlow = typeof full === 'string';
    return {
      ...target,
      small: null,
      full: isSlow ? full : null,
      sourceAddress: median.source,
      latencyMs: median.ms,
      bytesPerSecond: isSlow ? null : (BYTES * 2_000) / full.ms,
    };
  });
  const printed: Printed = { ips: ips.split(',').filter(Boolean), outcomes: await Promise.all(outcomes) };
  process.getBuiltinModule('node:fs').writeSync(1, JSON.stringify(printed));
}
