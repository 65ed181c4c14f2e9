import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { programOf, runProgram } from '../src/program.ts';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { CROWD, type Hostility, startHostileServer } from './support/hostile-server.ts';
import { policyPage } from './support/pages.ts';
import { runHere, terminalInMemory } from './support/run.ts';

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

type Row = {
  readonly words: (folder: string) => readonly string[];
  /** Of a list that it reads first. */
  readonly plural?: string;
  /** What it shows of c1, while c2 is hostile. */
  readonly known?: RegExp;
  readonly run?: (...words: readonly string[]) => Promise<Ended>;
  /** What it writes, besides. */
  readonly written?: (folder: string) => string;
};

const both = ['--context=c1', '--context=c2'];

/** Each subcommand that reads clusters. */
const rows: Readonly<Record<string, Row>> = {
  status: { words: () => ['status', ...both], known: /^c1 +semaphore-policy +0\.1\.0 +1\/1/m },
  check: { words: () => ['check', ...both], known: /✓ one-leader/ },
  graph: { words: () => ['graph', ...both, '-o', 'mermaid'], known: /"c1"/ },
  gather: {
    words: (folder) => ['gather', ...both, '-o', join(folder, 'bug.tar.gz')],
    known: /^wrote /m,
    written: (folder) => execFileSync('tar', ['-xzOf', join(folder, 'bug.tar.gz')], { encoding: 'utf8' }),
  },
  link: { words: (folder) => ['link', ...both, '-o', folder], plural: 'nodes' },
  unlink: { words: (folder) => ['unlink', ...both, '-o', folder], plural: 'configmaps' },
  test: { words: () => ['test', ...both, '--image=node:24'], known: /^FROM +TO/ },
  explain: { words: () => ['explain', '--from', 'c1/shop/cart', '--to', 'c2/shop/web:80'], known: /caller/ },
  export: { words: () => ['export', ...both, '--all-global=a=b', '--wait=0s'], plural: 'services' },
  drain: { words: () => ['drain', 'c2', ...both, '--wait=0s'] },
  undrain: { words: () => ['undrain', 'c2', ...both, '--wait=0s'] },
  ui: { words: () => ['ui', ...both], known: /"contexts":\s*\[\s*"c1"/, run: runUi },
};

/** Reads the page of `ui`, and ends it. @returns code 1 if the page has a problem */
async function runUi(...words: readonly string[]): Promise<Ended> {
  const stop = new AbortController();
  const url = Promise.withResolvers<string>();
  const { written, terminal } = terminalInMemory();
  const where = { name: 'semaphore', terminal: { ...terminal, print: url.resolve }, signal: stop.signal };
  const ended = runProgram(words, where);
  const read = async (path: string): Promise<string> => (await fetch(new URL(path, (await url.promise).trim()))).text();
  const mesh = await read('mesh.json');
  const hops = await read('explain.json?from=c1/shop/cart&to=c2/shop/web:80');
  stop.abort();
  expect(await ended).toBe(130);
  const { problems } = JSON.parse(mesh) as { problems: { total: number } };
  return { code: problems.total > 0 ? 1 : 0, stdout: mesh + hops, stderr: written.stderr };
}

const { terminal } = terminalInMemory();
const program = programOf({ name: 'semaphore', terminal, signal: new AbortController().signal }, () => undefined);
const names = program.commands
  .filter(({ options }) => options.some(({ long }) => long === '--kubeconfig'))
  .map((command) => command.name());

it('each subcommand that reads clusters is tested here', () => {
  expect(names.toSorted()).toEqual(Object.keys(rows).toSorted());
});

/** Runs a subcommand with two clusters. */
async function runRow(name: string, servers: Readonly<Record<'c1' | 'c2', string>>) {
  const { words, run = (...argv) => runHere({}, ...argv), written = () => '' } = rows[name]!;
  const folder = await mkdtemp(join(tmpdir(), 'semaphore-hostile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { code, stdout, stderr } = await run(...words(folder), '--kubeconfig', await kubeconfigOf(servers));
  return { code, said: stdout + stderr, written: written(folder) };
}

const plain = () =>
  startApiServer({ pods: [{ app: 'semaphore-policy', name: 'policy-0', status: () => policyPage() }] });

async function runBeside(hostility: Hostility, name: string, onAnswer?: () => void) {
  const { plural = 'pods' } = rows[name]!;
  const hostile = await startHostileServer(hostility, { plural, ...(onAnswer && { onAnswer }) });
  return { ...(await runRow(name, { c1: await plain(), c2: hostile.url })), asked: hostile.paths };
}

/** Makes time pass ten times more slowly: a busy machine must reach the limit of bytes or pages, and not that of time. */
function slowDown(): void {
  const [now, later] = [performance.now.bind(performance), setTimeout];
  vi.spyOn(performance, 'now').mockImplementation(() => now() / 10);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0, ...args: readonly []) =>
    later(work, ms < 10_000 ? ms : 10 * ms, ...args)) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
}

it.each(names.flatMap((name) => (['pages', 'bytes'] as const).map((hostility) => ({ name, hostility }))))(
  'a cluster whose answers have no end ($hostility) is one line of $name, which ends',
  async ({ name, hostility }) => {
    slowDown();
    const { code, said } = await runBeside(hostility, name);
    const why = { pages: /pages of a list without end/, bytes: /the answer has more than \d+ bytes/ };
    expect([code, said]).toEqual([1, expect.stringMatching(why[hostility])]);
    expect(said).toMatch(rows[name]!.known ?? '');
  },
);

it('a cluster that answers a byte a second is waited for once, and others are shown', async () => {
  const all = await Promise.all(names.map(async (name) => ({ name, ...(await runBeside('slow', name)) })));
  for (const { name, code, said } of all) {
    expect([name, code, said]).toEqual([name, 1, expect.stringMatching(/no answer within 10 s/)]);
    expect(said).toMatch(rows[name]!.known ?? '');
  }
});

it.each(names)(
  'a cluster of many answers, each of which takes 9 s, does not keep %s for a minute each',
  async (name) => {
    const now = performance.now.bind(performance);
    let lateMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
    onTestFinished(() => void vi.restoreAllMocks());
    const { asked } = await runBeside('crowd', name, () => (lateMs += 9_000));
    expect(asked.length).toBeLessThan(CROWD / 4);
  },
);

it.each(names.flatMap((name) => (['lies', 'refusals'] as const).map((hostility) => ({ name, hostility }))))(
  'clusters whose texts steer a terminal ($hostility) steer none in $name, and its Pods are none of a tenant',
  async ({ name, hostility }) => {
    const { url, paths } = await startHostileServer(hostility, { plural: 'pods' });
    const { said, written } = await runRow(name, { c1: url, c2: url });
    for (const text of [said, written]) {
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      expect(text).not.toMatch(/^FORGED/m);
    }
    expect(paths.filter((path) => path.includes('/namespaces/tenant/pods/'))).toEqual([]);
    expect(paths.length).toBeGreaterThan(0);
  },
);
