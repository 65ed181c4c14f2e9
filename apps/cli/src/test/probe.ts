/** Where a Pod listens. */
export const PORT = 8080;

/** A way to another cluster. */
export type Target = { readonly to: string; readonly by: 'pod' | 'service' | 'name'; readonly url: string };

/** What came through on that way. A small call fits into one packet; a full one needs packets of the whole MTU. */
export type Outcome = Target & {
  /** Why the calls failed; null: they were answered. */
  readonly small: string | null;
  readonly full: string | null;
  /** Of a small call: the median. Null if they failed. */
  readonly latencyMs: number | null;
  /** Bytes per second, there and back. Null if the full calls failed. */
  readonly bytesPerSecond: number | null;
};

/** The program of a Pod: without `TARGETS`, it returns what it is sent; with them, it calls each, and prints the outcomes. */
export const probeScript = (): string => `(${probe.toString()})(${PORT})`;

/** Runs in a Pod, from its text: it uses nothing from outside. */
async function probe(port: number): Promise<void> {
  const http = process.getBuiltinModule('node:http');
  const targets = process.env['TARGETS'];
  if (targets === undefined) {
    http.createServer((request, response) => void request.pipe(response)).listen(port);
    return;
  }
  // Without a byte in either direction: a full call on a slow link may last longer, up to the limit.
  const TIMEOUT_MS = 5_000;
  const LIMIT_MS = 40_000;
  // A mirror and its name may follow a few seconds later.
  const PATIENCE_MS = 30_000;
  const call = (url: string, bytes: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      let received = 0;
      const options = { method: 'POST', timeout: TIMEOUT_MS, signal: AbortSignal.timeout(LIMIT_MS) };
      const request = http.request(url, options, (response) => {
        response.on('data', (chunk: Buffer) => (received += chunk.length));
        response.on('error', reject);
        response.on('end', () => {
          if (received === bytes) resolve(performance.now() - start);
          else reject(new Error(`${received} of ${bytes} bytes came back`));
        });
      });
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error(`no byte for ${TIMEOUT_MS / 1_000} s`)));
      request.end(Buffer.alloc(bytes));
    });
  const attempt = async (work: () => Promise<number>): Promise<number | string> => {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > until) return (error as Error).message;
        await new Promise((resolve) => void setTimeout(resolve, 500));
      }
    }
  };
  const outcomes = (JSON.parse(targets) as Target[]).map(async (target): Promise<Outcome> => {
    const latency = await attempt(async () => {
      const times = [];
      for (let i = 0; i < 5; i++) times.push(await call(target.url, 64));
      return times.toSorted((a, b) => a - b)[2]!;
    });
    if (typeof latency === 'string')
      return { ...target, small: latency, full: 'not tried', latencyMs: null, bytesPerSecond: null };
    const BYTES = 4 * 1024 * 1024;
    const ms = await attempt(() => call(target.url, BYTES));
    const isSlow = typeof ms === 'string';
    return {
      ...target,
      small: null,
      full: isSlow ? ms : null,
      latencyMs: latency,
      bytesPerSecond: isSlow ? null : (BYTES * 2_000) / ms,
    };
  });
  process.getBuiltinModule('node:fs').writeSync(1, JSON.stringify(await Promise.all(outcomes)));
}
