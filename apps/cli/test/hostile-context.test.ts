import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { runHere } from './support/run.ts';

async function clusters(endless: 'pages' | 'bytes' | 'slow'): Promise<readonly string[]> {
  const [c1, c2] = await Promise.all([
    startApiServer({ pods: [{ app: 'semaphore-policy', name: 'policy-0', status: () => policyPage() }] }),
    startApiServer({ endless }),
  ]);
  return ['--kubeconfig', await kubeconfigOf({ c1, c2 }), '--context=c1', '--context=c2'];
}

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-hostile-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

type Subcommand = {
  readonly name: string;
  readonly argv: () => Promise<readonly string[]> | readonly string[];
  readonly only?: 'pages' | 'bytes';
};

const subcommands: readonly Subcommand[] = [
  { name: 'status', argv: () => ['status'] },
  { name: 'check', argv: () => ['check'] },
  { name: 'graph', argv: () => ['graph', '-o', 'mermaid'] },
  { name: 'gather', argv: async () => ['gather', '-o', join(await folder(), 'gather.tar.gz')], only: 'pages' },
  { name: 'link', argv: async () => ['link', '-o', await folder()] },
  { name: 'unlink', argv: async () => ['unlink', '-o', await folder()], only: 'bytes' },
];

const answers = {
  pages: /pages of a list without end/,
  bytes: /the answer has more than \d+ bytes/,
} as const;

/** Those that read many lists one after the other see each kind once. */
const cases = subcommands.flatMap((each) =>
  (['pages', 'bytes'] as const)
    .filter((endless) => each.only === undefined || each.only === endless)
    .map((endless) => ({ ...each, endless })),
);

it.each(cases)(
  'a cluster whose answers have no end ($endless) is one line of $name, which ends',
  async ({ argv, endless }) => {
    const { code, stdout, stderr } = await runHere({}, ...(await argv()), ...(await clusters(endless)));
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(answers[endless]);
  },
);

it('a cluster that answers a byte a second is not waited for, and others are shown', async () => {
  const { code, stdout } = await runHere({}, 'status', ...(await clusters('slow')));
  expect(code).toBe(1);
  expect(stdout).toMatch(/^c1 +semaphore-policy +0\.1\.0 +1\/1/m);
  expect(stdout).toMatch(/c2.*no answer within 10 s/);
});
