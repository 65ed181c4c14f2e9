import { execFile } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { DemoProcess } from './demo-process.ts';

export const run = promisify(execFile);

/** Runs the whole demo before the tunnels. */
export const startWithTunnels = (): Promise<DemoProcess> =>
  DemoProcess.start(['--keep'], { PATH: process.env['PATH'] ?? '' });

type Process = { readonly parent: number; readonly namespace: string };

/** All processes with their network namespaces. */
async function processes(): Promise<readonly Process[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'ppid=,netns=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [parent = '', namespace = ''] = line.trim().split(/ +/);
      return { parent: Number(parent), namespace };
    });
}

/** The network namespaces of a demo. */
export async function namespacesOf({ child }: DemoProcess): Promise<ReadonlySet<string>> {
  const own = /\d+/.exec(await readlink('/proc/self/ns/net'))?.[0];
  const held = (await processes()).filter(
    ({ parent, namespace }) => parent === child.pid && namespace !== own && namespace !== '-',
  );
  return new Set(held.map(({ namespace }) => namespace));
}

/** Waits until a demo has left no file, no process, and no process in its namespaces. */
export async function leavesNothing(demo: DemoProcess, namespaces: ReadonlySet<string>): Promise<void> {
  const inside = async () => (await processes()).filter(({ namespace }) => namespaces.has(namespace));
  await eventually(async () => [...(await demo.remains()), ...(await inside())], []);
}
