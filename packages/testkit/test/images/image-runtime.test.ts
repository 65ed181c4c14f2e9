import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { startNetwork } from '@kube-semaphore/testnet';
import { expect, onTestFinished, test } from 'vitest';
import { imageName, imageRuntime, podman } from '../../src/index.ts';
import { RunningContainer } from '../../src/pods/container.ts';
import type { ContainerStart } from '../../src/pods/runtime.ts';

const restricted = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_531,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const it = test
  .extend('network', async ({ task: _task }, { onCleanup }) => {
    const network = await startNetwork(['n1']);
    onCleanup(() => network.stop());
    return network;
  })
  .extend('dir', async ({ task: _task }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'image-runtime-'));
    onCleanup(() => rm(dir, { recursive: true }));
    // Who a container runs as is nobody here.
    await chmod(dir, 0o755);
    await writeFile(join(dir, 'file'), 'a volume');
    return dir;
  })
  .extend('begin', ({ network }) => (more: Partial<ContainerStart>) => {
    const commandLine = imageRuntime({
      image: imageName('policy'),
      command: ['sleep', 'infinity'],
      args: [],
      env: {},
      binds: [],
      security: restricted,
      place: network.node('n1'),
      hostname: 'app-0',
      ...more,
    });
    const container = new RunningContainer(commandLine);
    onTestFinished(() => container.stop(0));
    const name = commandLine.args.find((word) => word.startsWith('--name='))?.slice('--name='.length) ?? '';
    const isThere = () =>
      podman(['container', 'exists', name]).then(
        () => true,
        () => false,
      );
    return { container, isThere };
  })
  .extend('start', ({ begin }) => async (more: Partial<ContainerStart>) => {
    const { container, isThere } = begin(more);
    await runs(container);
    return { container, isThere };
  });

async function runs(container: RunningContainer): Promise<void> {
  await eventually(
    () =>
      container.exec('true', []).then(
        () => true,
        () => false,
      ),
    true,
  );
}

/** What the kernel says of the program, by the names that it has there. */
async function rightsOf(container: RunningContainer): Promise<Readonly<Record<string, string>>> {
  const lines = (await container.exec('cat', ['/proc/1/status'])).split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\t/, 2) as [string, string]));
}

it('runs a program as the user and with the rights that its manifest says', async ({ start }) => {
  const { container } = await start({});
  expect(await rightsOf(container)).toMatchObject({
    Uid: Array(4).fill('65532').join('\t'),
    Gid: Array(4).fill('65531').join('\t'),
    CapBnd: '0000000000000000',
    NoNewPrivs: '1',
    Seccomp: '2',
  });
  await expect(container.exec('touch', ['/tmp/a'])).rejects.toThrow('Read-only file system');
});

it('has one right more for who needs it', async ({ start }) => {
  const { container } = await start({
    security: { ...restricted, runAsNonRoot: false, runAsUser: 0, capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } },
  });
  expect(await rightsOf(container)).toMatchObject({ CapEff: '0000000000001000', CapBnd: '0000000000001000' });
});

it('gives it the network, name, variables and volumes of its Pod', async ({ start, network, dir }) => {
  const { container } = await start({
    env: { A: 'b' },
    binds: [{ source: dir, target: '/etc/volume', readOnly: true }],
  });
  expect(await container.exec('env', [])).toMatch(/^A=b$/m);
  expect(await container.exec('uname', ['--nodename'])).toBe('app-0\n');
  expect(await container.exec('cat', ['/etc/volume/file'])).toBe('a volume');
  const netns = ['readlink', ['/proc/self/ns/net']] as const;
  expect(await container.exec(...netns)).toBe(await network.node('n1').run(...netns));
});

it('starts it again when it ends, and leaves nothing of it when it is stopped against its will', async ({ start }) => {
  const { container, isThere } = await start({ command: ['sleep', '2'] });
  await eventually(
    () => container.restarts,
    (restarts) => restarts > 0,
  );
  await runs(container);
  // Who is the first process of a container and has no handler for SIGTERM doesn't get it.
  await container.stop(100);
  expect(await isThere()).toBe(false);
});

it('leaves nothing of one that is stopped before it runs', async ({ begin }) => {
  const { container, isThere } = begin({});
  await eventually(() => isThere(), true);
  await container.stop(0);
  expect(await isThere()).toBe(false);
});
