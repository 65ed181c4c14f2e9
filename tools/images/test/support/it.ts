import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import {
  type Container,
  type ContainerOptions,
  deployAccount,
  deployedRights,
  globalNetworkSetCrd,
  imageName,
  startContainer,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { startNetwork } from '@kube-semaphore/testnet';
import { test } from 'vitest';

/** Volumes of a container, by mount path. */
type Mounts = Readonly<Record<string, string>>;

/** The local cluster of a container, its remote, and its config file. */
type Pod = { readonly app: string; readonly config: object; readonly options?: Omit<ContainerOptions, 'image'> };

/**
 * A test with two real clusters, `local` and `remote`, shared by the tests of a file, and with containers of the images,
 * which are removed after the test. They reach the local cluster by a service account of deploy/, and the remote by a
 * Secret, mounted as in the manifests.
 */
export const it = test
  .extend('names', { scope: 'file' }, { local: 'c1', remote: 'c2' })
  .extend('clusters', { scope: 'file' }, async ({ names }, { onCleanup }) => {
    const [local, remote] = await Promise.all([
      startRealCluster({ name: names.local }),
      startRealCluster({ name: names.remote }),
    ]);
    onCleanup(async () => void (await Promise.all([local.stop(), remote.stop()])));
    await local.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    await local.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'sys-semaphore' },
    });
    return { local, remote };
  })
  .extend('local', { scope: 'file' }, ({ clusters }): TestCluster => clusters.local)
  .extend('remote', { scope: 'file' }, ({ clusters }): TestCluster => clusters.remote)
  .extend('dir', async ({ task: _task }, { onCleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'images-'));
    // The user of a container has no rights here.
    await chmod(dir, 0o755);
    onCleanup(() => rm(dir, { recursive: true }));
    return dir;
  })
  .extend('machine', async ({ clusters: { local, remote } }, { onCleanup }) => {
    const network = await startNetwork(['n1']);
    onCleanup(() => network.stop());
    const machine = network.node('n1');
    for (const { url } of [local, remote]) await machine.forward(Number(new URL(url).port));
    return machine;
  })
  .extend('start', ({ task }, { onCleanup }) => {
    const started: Container[] = [];
    onCleanup(async () => {
      await Promise.all(started.map((container) => container.remove()));
      if (task.result?.state === 'fail') for (const { stderr } of started) console.error(stderr());
    });
    return (options: ContainerOptions): Container => {
      const container = startContainer(options);
      started.push(container);
      return container;
    };
  })
  .extend(
    'startPod',
    ({ local, remote, dir, start }) =>
      async ({ app, config, options = {} }: Pod): Promise<Container> => {
        const { hostname, port } = new URL(local.url);
        return start({
          image: imageName(app),
          ...options,
          env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ...options.env },
          mounts: { ...(await volumes(app, { local, remote, dir, config })), ...options.mounts },
        });
      },
  );

/** The entry of the remote in a config file. */
export const entryOf = (remote: TestCluster) => ({
  name: 'c2',
  remoteAPIURL: remote.url,
  remoteCAURL: 'file:///etc/kube-semaphore/remotes/c2/ca.crt',
  remoteSATokenPath: '/etc/kube-semaphore/remotes/c2/token',
});

type Sources = {
  readonly local: TestCluster;
  readonly remote: TestCluster;
  readonly dir: string;
  readonly config: object;
};

async function volumes(app: string, { local, remote, dir, config }: Sources): Promise<Mounts> {
  const [writer, reader] = await Promise.all([
    deployAccount(local, `${app}/base`),
    deployAccount(remote, `${app}/remote`),
  ]);
  const [account, secret, configMap] = ['account', 'secret', 'config'].map((name) => join(dir, app, name)) as [
    string,
    string,
    string,
  ];
  await readable(join(account, 'token'), writer.token);
  await readable(join(account, 'namespace'), deployedRights(`${app}/base`).account.namespace);
  await readable(join(secret, 'token'), reader.token);
  await readable(join(configMap, 'config.json'), JSON.stringify(config));
  await copyFile(local.caFile, join(account, 'ca.crt'));
  await copyFile(remote.caFile, join(secret, 'ca.crt'));
  return {
    '/var/run/secrets/kubernetes.io/serviceaccount': account,
    '/etc/kube-semaphore/remotes/c2': secret,
    '/etc/kube-semaphore/config': configMap,
  };
}

async function readable(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o644 });
}
