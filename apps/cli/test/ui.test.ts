import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { run, start, startWith } from './support/run.ts';

const pod = { app: 'semaphore-policy', name: 'policy-0' };

/** Serves the page of c1 and c2 until the test ends. @returns its URL, and the program */
async function ui(...argv: readonly string[]) {
  const lastError = { time: '2026-01-01T00:00:00.000Z', message: 'refused: Bearer planted-token <script>' };
  const down = { up: false, synced: false, objects: null, lastError };
  const [c1, c2] = await Promise.all([
    startApiServer({ pods: [{ ...pod, status: () => policyPage(down) }] }),
    startApiServer({ pods: [{ ...pod, status: () => policyPage({ name: 'c1' }) }] }),
  ]);
  const program = start('ui', '--kubeconfig', await kubeconfigOf({ c1, c2 }), '--context=c1', '--context=c2', ...argv);
  onTestFinished(async () => void (await program.stop()));
  await eventually(() => program.stdout().endsWith('/\n'), true);
  return { program, url: new URL(program.stdout().trim()) };
}

/** A request as any program can send it. */
async function send(url: URL, { method = 'GET', host = url.host } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url, { method, headers: { host } }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on('error', reject)
    .end();
  return promise;
}

describe('ui', () => {
  it('serves the mesh as JSON, without credentials', async () => {
    const { url } = await ui();
    const response = await fetch(new URL('mesh.json?filter=c2', url));
    expect(await response.json()).toMatchObject({
      schemaVersion: '1',
      contexts: ['c1', 'c2'],
      problems: {
        rows: [
          'c2 is not reached: from c1 (policy), since 2026-01-01T00:00:00.000Z: refused: Bearer [redacted] <script>',
        ],
      },
      pairs: { total: 2, rows: [{ from: 'c1', to: 'c2' }, { from: 'c2' }] },
      check: null,
    });
    const checked = async (): Promise<unknown> => {
      const { check } = (await (await fetch(new URL('mesh.json', url))).json()) as { check: { ok: boolean } | null };
      return check?.ok;
    };
    await eventually(checked, false);
  });

  it('explains a path between its contexts, and names a wrong one', async () => {
    const { url } = await ui();
    const explain = async (from: string, to: string) => {
      const response = await fetch(new URL(`explain.json?${new URLSearchParams({ from, to }).toString()}`, url));
      return { status: response.status, page: await response.json() };
    };
    expect(await explain('c1/shop/cart', 'c2/shop/web:80')).toMatchObject({
      status: 200,
      page: { schemaVersion: '1', from: 'c1/shop/cart', hops: expect.any(Array) as unknown },
    });
    expect(await explain('c1/shop/cart', 'c3/shop/web')).toEqual({
      status: 400,
      page: { error: 'c3 is not a context of this page' },
    });
    expect(await explain('cart', 'c2/shop/web')).toMatchObject({
      status: 400,
      page: { error: expect.stringContaining('use context/namespace/pod') as unknown },
    });
  });

  it('lets only a page with its token read it, by its own address', async () => {
    const { url } = await ui();
    const above = new URL('/', url);
    const guessed = new URL(`/${'a'.repeat(url.pathname.length - 2)}/`, url);
    expect(url.hostname).toBe('127.0.0.1');
    expect(
      await Promise.all([
        send(url),
        send(url, { host: 'evil.example' }),
        send(url, { host: `evil.example:${url.port}` }),
        send(url, { method: 'POST' }),
        send(url, { method: 'OPTIONS' }),
        send(above),
        send(guessed),
        send(new URL('mesh.json', above)),
        send(new URL('toString', url)),
      ]),
    ).toEqual([200, 403, 403, 405, 405, 404, 404, 404, 404]);
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('opens a browser with a private file, which ends with it, and not with the token', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'semaphore-ui-test-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    // It gets its argument by a link, so that the test reads what a browser would.
    for (const opener of ['open', 'xdg-open'])
      await writeFile(join(dir, opener), `#!/bin/sh\nln -s "$1" "${dir}/opened"\n`, { mode: 0o755 });
    const kubeconfig = await kubeconfigOf({ c1: await startApiServer({ pods: [] }) }, 'c1');
    const PATH = `${dir}:${process.env['PATH']}`;
    const program = startWith({ PATH }, 'ui', '--kubeconfig', kubeconfig, '--open');
    onTestFinished(async () => void (await program.stop()));
    const opened = (): Promise<string> => readlink(join(dir, 'opened')).catch(() => '');
    await eventually(async () => (await opened()) !== '', true);
    const file = await opened();
    const url = program.stdout().trim();
    expect(await readFile(file, 'utf8')).toContain(`;url=${url}"`);
    expect(file).not.toContain(new URL(url).pathname.slice(1, -1));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await program.stop('SIGINT');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('ends when it is interrupted', async () => {
    const { program } = await ui();
    expect(await program.stop('SIGINT')).toMatchObject({ code: 130, signal: null });
  });

  it.each([{ port: 'x' }, { port: '65536' }])('ends with 2: port $port', async ({ port }) => {
    expect((await run('ui', `--port=${port}`)).code).toBe(2);
  });

  it('ends with 2 if its port is taken', async () => {
    const { url } = await ui();
    const kubeconfig = await kubeconfigOf({ c1: 'https://127.0.0.1:1' }, 'c1');
    expect(await run('ui', '--kubeconfig', kubeconfig, `--port=${url.port}`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `semaphore: the port ${url.port} can't be used (EADDRINUSE): set --port to another one\n`,
    });
  });
});
