import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { mountFiles } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { it, ownNode } from './support/it.ts';

const FEW = { c2: '10.4.0.0/16' };

/** A hundred remotes, each with ranges and a port of its own. */
const MANY = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`more-${i}`, `10.${100 + i}.0.0/16`]));

it('gives back what a hundred remotes had, when they leave the config', async ({
  accounts,
  dir,
  addNode,
  local,
  spawn,
}) => {
  const { kubeconfig: kubeConfigPath } = accounts.remote.reader;
  const fileOf = (remotes: Readonly<Record<string, string>>): string =>
    JSON.stringify({
      local: { name: 'c1', kubeConfigPath: accounts.local.agent.kubeconfig },
      remotes: Object.entries(remotes).map(([name, podSubnet], i) => ({
        name,
        kubeConfigPath,
        podSubnet,
        wgListenPort: 51_820 + i,
        deviceName: `wg-${name}`,
      })),
    });
  const mount = (remotes: Readonly<Record<string, string>>) =>
    mountFiles(join(dir, 'config'), { 'c.json': fileOf(remotes) });
  await mkdir(join(dir, 'config'));
  await mount(FEW);
  await addNode(local, ownNode);
  const agent = await spawn({ flags: { 'clusters-config': join(dir, 'config', 'c.json'), 'observe-period': '1h' } });
  await agent.logged('remote nodes listed', { cluster: 'c2' });
  const open = async (): Promise<number> => (await readdir(`/proc/${agent.pid}/fd`)).length;
  const seriesOf = (text: string): readonly string[] =>
    text.split('\n').flatMap((line) => (line.startsWith('semaphore_wg_') ? (line.split(' ')[0] ?? '') : []));
  // On a busy machine a request may fail, and that is counted with the host of a remote that stays.
  const series = async () =>
    seriesOf((await agent.get('/metrics')).body).filter((name) => !name.includes('code="<error>"'));
  const up = async (): Promise<number> =>
    ((await agent.get('/metrics')).body.match(/^semaphore_wg_remote_up\{remote="(?!local).*\} 1$/gm) ?? []).length;
  const applied = () => agent.log().filter(({ msg }) => msg === 'config file changed, and is in force');

  // What the first remote that comes and goes leaves for ever, such as code that is loaded, doesn't count.
  await mount({ ...FEW, first: '10.99.0.0/16' });
  await eventually(up, 2);
  await mount(FEW);
  await eventually(() => applied().at(-1)?.['removed'], ['first']);
  const [files, names] = [await open(), await series()];

  await mount({ ...FEW, ...MANY });
  await eventually(up, 101);
  expect(await open()).toBeGreaterThan(files + 99);
  await mount(FEW);
  await eventually(() => applied().at(-1)?.['removed'], Object.keys(MANY));
  await eventually(open, (count) => count <= files);
  expect(await series()).toEqual(names);
  expect(await agent.status()).toMatchObject({ remotes: [{ name: 'c2', synced: true }] });
});
