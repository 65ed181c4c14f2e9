import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import { type Program, spawnProgram } from '@kube-semaphore/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type DeployedProgram, programs } from './support/programs.ts';
import { deploy } from './support/render.ts';

/** Signal 10, as a bit of the masks in /proc/<pid>/status. */
const SIGUSR1 = 1n << 9n;

/** A program as deployed, with clusters that don't answer. */
async function start({ name, variables, configVariable }: DeployedProgram): Promise<Program> {
  const dir = await mkdtemp(join(tmpdir(), 'processes-'));
  const app = name.slice('semaphore-'.length);
  const credentials = { token: 't' };
  const { caPem } = await createAuthority();
  const cluster = { name: 'c2', url: 'https://127.0.0.1:1', caPem, credentials };
  const kubeConfigPath = await writeKubeconfig(join(dir, 'kubeconfig'), cluster);
  const config = join(dir, 'config.json');
  const example = JSON.parse(await readFile(join(deploy, 'overlays/example/c1', `${app}.json`), 'utf8')) as Record<
    string,
    object
  >;
  const reached = Object.entries(example).map(([key, value]) => {
    if (Array.isArray(value)) return [key, value.map((remote: object) => ({ ...remote, kubeConfigPath }))];
    return [key, key.startsWith('local') ? { ...value, kubeConfigPath } : value];
  });
  await writeFile(
    config,
    JSON.stringify({ ...(app === 'policy' && { local: { kubeConfigPath } }), ...Object.fromEntries(reached) }),
  );
  const listen = variables.find((variable) => variable.endsWith('_LISTEN_ADDRESS'))!;
  const env = {
    PATH: process.env['PATH'] ?? '',
    [configVariable]: config,
    [listen]: '127.0.0.1:0',
    SWG_NODE_NAME: 'n1',
    SWG_WG_KEY_PATH: dir,
  };
  const launcher = fileURLToPath(new URL(`../../../apps/${app}/bin/${name}.js`, import.meta.url));
  const program = spawnProgram(launcher, [], env);
  onTestFinished(async () => {
    await program.stop('SIGKILL');
    await rm(dir, { recursive: true });
  });
  await program.logged('started');
  return program;
}

const proc = (pid: number, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8');

describe.each(programs)('a process of $name', (program) => {
  it('opens no debugger at SIGUSR1, and continues', async () => {
    const process = await start(program);
    const [, caught = ''] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(await proc(process.pid, 'status')) ?? [];
    expect(BigInt(`0x${caught}`) & SIGUSR1).toBe(0n);
    process.signal('SIGUSR1');
    expect(await process.get('/healthz')).toMatchObject({ status: 200 });
    expect(process.stderr()).not.toContain('Debugger listening');
  });

  it('writes no memory to a core dump', async () => {
    const process = await start(program);
    expect((await proc(process.pid, 'coredump_filter')).trim()).toBe('00000000');
  });
});
