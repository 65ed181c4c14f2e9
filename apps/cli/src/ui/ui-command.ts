import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, type ContextChoice, contextsOf, inTime } from '../clusters/contexts.ts';
import type { Run } from '../clusters/objects.ts';
import { explain } from '../explain/explain.ts';
import { explainPage } from '../explain/page.ts';
import { pairsOf } from '../explain/pairs.ts';
import { readFacts } from '../explain/read.ts';
import { parseDestination, parseSource } from '../explain/words.ts';
import { complainOf, type Invocation } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { pageFiles } from './files.ts';
import { readChecks, readMesh } from './read.ts';
import { Repeated } from './repeated.ts';
import { routesOf } from './routes.ts';
import { serve } from './server.ts';
import { safeJson } from './view.ts';

export type UiOptions = ContextChoice & { readonly port: number; readonly open?: boolean };

/** What the apps say may change any moment; checks ask for a hundred rights in each cluster. */
const READ_MS = 5_000;
const CHECK_MS = 60_000;

/** Serves a page with the mesh on this machine until it is interrupted. Rejects then. */
export async function runUi(options: UiOptions, invocation: Invocation): Promise<never> {
  const { terminal, signal } = invocation;
  const contexts = await contextsOf(options);
  const run = { signal };
  const mesh = new Repeated(() => readMesh(contexts, run), { everyMs: READ_MS });
  const check = new Repeated(async () => readChecks(contexts, (await mesh.get()).reports, run), { everyMs: CHECK_MS });
  const routes = routesOf(await pageFiles(), {
    mesh: () => mesh.get(),
    check: () => check.newest(),
    explain: async (params) => safeJson(explainPage(await explained(contexts, params, run))),
  });
  const { url, server } = await serve(routes, { port: options.port, token: randomBytes(24).toString('base64url') });
  terminal.print(`${url}\n`);
  const folder = options.open === true ? await open(url, invocation) : undefined;
  if (!signal.aborted) await once(signal, 'abort');
  server.close();
  server.closeAllConnections();
  if (folder !== undefined) await rm(folder, { recursive: true });
  throw signal.reason;
}

/** @throws {UsageError} */
async function explained(contexts: readonly Context[], params: URLSearchParams, run: Run) {
  const from = parseSource(params.get('from') ?? '');
  const to = parseDestination(params.get('to') ?? '', params.get('to-context') || undefined);
  const [here, there] = [from, to].map((end) => {
    const context = contexts.find(({ name }) => name === end.context);
    if (context === undefined) throw new UsageError(`${end.context} is not a context of this page`);
    return context;
  });
  if (here === there) throw new UsageError('both are in one cluster: name two contexts');
  return pairsOf(await readFacts({ from, to, here: inTime(here!), there: inTime(there!) }, run)).map(explain);
}

/**
 * Starts a browser. All users see the arguments of a process, so it gets a file that only this user can read.
 *
 * @returns the folder of the file
 */
async function open(url: string, invocation: Invocation): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'semaphore-ui-'));
  const file = join(folder, 'open.html');
  await writeFile(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">`, { mode: 0o600 });
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(opener, [file], { stdio: 'ignore', detached: true })
    .on('error', (error) =>
      complainOf(invocation, `${opener} doesn't start (${error.message}): open the page yourself`),
    )
    .unref();
  return folder;
}
