import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startNetwork } from '@kube-semaphore/testnet';
import { expect, it, onTestFinished } from 'vitest';
import { startCoreDns } from '../../src/index.ts';
import { ComponentError } from '../../src/real/start-component.ts';
import { remainsOf } from '../remains.ts';
import { startComponents } from './start-components.ts';

const owner = fileURLToPath(new URL('./components-owner.ts', import.meta.url));

/** A component's folder, and itself. */
const PARTS = 2;

/** One that starts a program is there twice, until its child is that program. */
const partsIn = async (dir: string): Promise<number> => (await remainsOf(dir)).length;

it('leaves nothing of CoreDNS and kube-proxy after stop, which may be called twice', async () => {
  const { coreDns, kubeProxy, stop } = await startComponents();
  onTestFinished(stop);
  for (const component of [coreDns, kubeProxy]) {
    await eventually(() => partsIn(component.dir), PARTS);
    await component.stop();
    await component.stop();
    expect(await remainsOf(component.dir)).toEqual([]);
  }
});

it('leaves nothing of them when the process that started them is killed', async () => {
  const child = fork(owner, { execPath: process.execPath, execArgv: [] });
  const [dirs] = (await once(child, 'message')) as [readonly string[]];
  for (const dir of dirs) await eventually(() => partsIn(dir), PARTS);
  child.kill('SIGKILL');
  for (const dir of dirs) await eventually(() => remainsOf(dir), []);
});

it('says what CoreDNS does not like, and starts another one there', async () => {
  const [cluster, network] = await Promise.all([startEmbeddedCluster({ name: 'c1' }), startNetwork(['a'])]);
  onTestFinished(async () => void (await Promise.all([network.stop(), cluster.stop()])));
  const node = network.node('a');
  const start = startCoreDns({ cluster, node, corefile: '.:53 {\n  upstream\n}\n' });
  await expect(start).rejects.toThrow(ComponentError);
  await expect(start).rejects.toThrow(/coredns: exit code 1\n[^]*upstream/);
  const coreDns = await startCoreDns({ cluster, node, corefile: '.:53 {\n  whoami\n}\n' });
  await coreDns.stop();
});
