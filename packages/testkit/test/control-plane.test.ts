import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Tool, tools } from '../src/real/binaries.ts';
import { filesIn } from '../src/real/components.ts';
import { ControlPlane } from '../src/real/control-plane.ts';
import { ComponentError } from '../src/real/start-component.ts';
import { Supervision } from '../src/real/supervision.ts';

/** Listens on etcd's port. */
const fakeEtcd = `
const socket = process.argv.find((arg) => arg.startsWith('--listen-client-urls=')).split('unix://')[1];
require('node:net').createServer().listen(socket);`;

/** Fails to bind its port the first \`conflicts\` times, and then runs. */
const fakeApiserver = (conflicts: number) => `
const fs = require('node:fs');
fs.appendFileSync('attempts', 'x');
const port = process.argv.find((arg) => arg.startsWith('--secure-port=')).split('=')[1];
const attempts = fs.readFileSync('attempts', 'utf8').length;
if (attempts <= ${conflicts}) {
  console.error('listen tcp 127.0.0.1:' + port + ': bind: address already in use');
  process.exit(1);
}
fs.writeFileSync('serving', port);
setInterval(() => {}, 1e6);`;

let supervision: Supervision;
beforeEach(async () => {
  supervision = await Supervision.start();
});
afterEach(() => supervision.stop());

async function plane(apiserver: string): Promise<ControlPlane> {
  const { dir } = supervision;
  const paths = Object.fromEntries(tools.map((tool) => [tool, ''])) as Record<Tool, string>;
  for (const [name, script] of [
    ['etcd', fakeEtcd],
    ['kube-apiserver', apiserver],
  ] as const) {
    paths[name] = join(dir, `fake-${name}`);
    await writeFile(paths[name], `#!${process.execPath}\n${script}`, { mode: 0o755 });
  }
  const serves = async (url: string) => (await readFile(join(dir, 'serving'), 'utf8')) === new URL(url).port;
  return new ControlPlane({ supervision, paths, files: filesIn(dir), audit: false, flags: {}, serves });
}

async function attempts(): Promise<number> {
  const marks = await readFile(join(supervision.dir, 'attempts'), 'utf8');
  return marks.length;
}

it('takes another port if its port is taken', async () => {
  const controlPlane = await plane(fakeApiserver(2));
  await controlPlane.start();
  expect(await attempts()).toBe(3);
});

it('gives up after five ports', async () => {
  const controlPlane = await plane(fakeApiserver(99));
  await expect(controlPlane.start()).rejects.toThrow('address already in use');
  expect(await attempts()).toBe(5);
});

it('tries no other port if the server fails for another reason, and quotes its log', async () => {
  const controlPlane = await plane(`console.error('unknown flag: --colour'); process.exit(1)`);
  const failure = controlPlane.start();
  await expect(failure).rejects.toThrow(ComponentError);
  await expect(failure).rejects.toThrow('kube-apiserver: exit code 1\nunknown flag: --colour');
});
