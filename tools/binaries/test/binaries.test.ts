import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engines, otherTools, recipe, tools } from '@kube-semaphore/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A compiler that writes what it was asked for into the file after `-o`, and has a module in the folder GO_MODULE. */
const compiler = `#!/bin/sh
[ "$1" != list ] || echo "$GO_MODULE"
[ "$1" != mod ] || echo "{\\"Dir\\":\\"$GO_MODULE\\"}"
[ "$1" = build ] || exit 0
echo "$@" >> "$GO_LOG"
echo "half a program" > "$3"
[ -z "$GO_FAILS" ] || { echo "undefined: everything" >&2; exit 1; }
chmod +x "$3"
`;

let dir: string;
let env: Record<string, string>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'binaries-'));
  writeFileSync(join(dir, 'go'), compiler);
  chmodSync(join(dir, 'go'), 0o755);
  mkdirSync(join(dir, 'module', 'manifests'), { recursive: true });
  writeFileSync(join(dir, 'module', 'manifests', 'crds.yaml'), 'kind: CustomResourceDefinition\n');
  env = {
    PATH: `${dir}:/usr/bin:/bin`,
    XDG_CACHE_HOME: join(dir, 'cache'),
    GO_LOG: join(dir, 'go.log'),
    GO_MODULE: join(dir, 'module'),
  };
  for (const path of tools.flatMap(filesOf)) {
    mkdirSync(dirname(join(dir, 'module', path)), { recursive: true });
    writeFileSync(join(dir, 'module', path), `# ${path}\n`);
  }
});
afterEach(() => rmSync(dir, { recursive: true }));

type Outcome = { code: number; stdout: string; stderr: string };

function run(overrides: Record<string, string> = {}, args: readonly string[] = []): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { ...env, ...overrides } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const file = (tool: (typeof tools)[number]) => recipe(tool, env).file;
/** Those of a module that make up a tool. */
const filesOf = (tool: (typeof tools)[number]) => recipe(tool, env).files?.paths ?? [];
const builds = () => readFileSync(join(dir, 'go.log'), 'utf8').trimEnd().split('\n');
const withoutEngines = tools.filter((tool) => !engines.includes(tool));
/** Those that Go compiles. */
const compiled = () => withoutEngines.filter((tool) => filesOf(tool).length === 0);

it('builds every tool except the engines, and the second time none', async () => {
  const first = await run();
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toContain(file('kube-apiserver'));
  expect(builds()).toHaveLength(compiled().length);
  for (const build of builds()) expect(build).toContain('-mod=readonly');

  const second = await run();
  expect(second.stdout).toBe(`all there:\n${withoutEngines.map(file).join('\n')}\n`);
  expect(builds()).toHaveLength(compiled().length);
});

it('builds the engines, too, with --engines', async () => {
  await run();
  const { stdout } = await run({}, ['--engines']);
  expect(stdout.match(/built in/g)).toHaveLength(engines.length);
  expect(stdout).toContain(`ready:\n${tools.map(file).join('\n')}\n`);
});

it.each(['newer', 'oldest'] as const)('builds the %s Kubernetes, too, if asked', async (word) => {
  await run();
  const { stdout } = await run({}, [`--${word}`]);
  const kubernetes = `kubernetes-${word}` as const;
  expect(stdout.match(/built in/g)).toHaveLength(otherTools[kubernetes].length);
  const files = otherTools[kubernetes].map((tool) => recipe(tool, env, kubernetes).file);
  expect(stdout).toContain(`ready:\n${files.join('\n')}\n`);
});

it('builds only the tools that are named', async () => {
  const { stdout } = await run({}, ['kubectl', 'calico']);
  expect(stdout.match(/built in/g)).toHaveLength(2);
  expect(stdout).toContain(`ready:\n${file('kubectl')}\n${file('calico')}\n`);
});

it.each([
  { what: 'an option', word: '--engine', want: "'--engine'" },
  { what: 'a tool', word: 'kubectll', want: 'no such tool: kubectll; there are kubectl, ' },
])('refuses $what that it does not know', async ({ word, want }) => {
  const { code, stderr } = await run({}, [word]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(want)]);
});

it('puts the CRDs of Calico beside its programs', async () => {
  await run({}, ['--engines']);
  const crds = join(dirname(file('calico')), 'crds.yaml');
  expect(readFileSync(crds, 'utf8')).toBe('kind: CustomResourceDefinition\n');
});

it('writes the CRDs of Cilium into one file', async () => {
  await run({}, ['--engines']);
  const lines = filesOf('cilium-crds.yaml').map((path) => `# ${path}\n`);
  expect(lines).toHaveLength(2);
  expect(readFileSync(file('cilium-crds.yaml'), 'utf8')).toBe(lines.join('\n'));
});

it('builds only what is missing', async () => {
  await run();
  rmSync(file('kubectl'));
  const { stdout } = await run();
  expect(stdout.match(/built in/g)).toHaveLength(1);
  expect(existsSync(file('kubectl'))).toBe(true);
});

it('leaves nothing of a failed build and shows what the compiler said', async () => {
  const { code, stderr } = await run({ GO_FAILS: 'yes' });
  expect(code).toBe(1);
  expect(stderr).toContain('building kubectl: go build: exit code 1\nundefined: everything');
  expect(readdirSync(dirname(file('kubectl')))).toEqual([]);
});

it('removes what a killed build left, but not what another one is writing', async () => {
  await run();
  const [old, young] = ['.etcd.1', '.etcd.2'].map((name) => join(dirname(file('etcd')), name)) as [string, string];
  for (const path of [old, young]) writeFileSync(path, '');
  utimesSync(old, 0, 0);
  rmSync(file('etcd'));
  await run();
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

it('builds nothing when KUBEBUILDER_ASSETS is set, and names what is missing there', async () => {
  const { code, stderr } = await run({ KUBEBUILDER_ASSETS: dir });
  expect(code).toBe(1);
  expect(stderr).toBe(`KUBEBUILDER_ASSETS=${dir} has no ${withoutEngines.join(', ')}\n`);
  expect(existsSync(join(dir, 'go.log'))).toBe(false);
});

it('says in one line that Go is not installed', async () => {
  const { code, stderr } = await run({ PATH: join(dir, 'nothing-here') });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Go is not installed: install Go .*\n$/);
});
