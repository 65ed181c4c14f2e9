import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type Container, createPod, endpointSlice, imageName, node, pod, service } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { entryOf, it } from '../support/it.ts';

const config = '/etc/kube-semaphore/config/config.json';
const SETS = '/apis/crd.projectcalico.org/v1/globalnetworksets';
const MIRRORS = 'namespaces/sys-semaphore';

const found = async ({ admin }: TestCluster, path: string) => {
  const { status, body } = await admin.request('GET', path);
  return status === 200 ? body : undefined;
};

/** The exit code of a container that SIGKILL ended. */
const KILLED = 137;

/** The end of a container that is stopped as by the kubelet. A program that needs more than the promised 5 s ends with 1. */
async function stopped(container: Container): Promise<number | null> {
  return (await container.stop()).code;
}

it('policy: a pod of one cluster is in a set of the other', async ({ local, remote, startPod }) => {
  await createPod(
    remote.admin,
    pod({ name: 'checkout-1', labels: { 'semaphore.uw.systems/name': 'checkout' }, ips: ['10.4.1.38'] }),
  );
  const policy = await startPod({
    app: 'policy',
    config: { remotes: [entryOf(remote)] },
    options: {
      args: [`-config=${config}`, '-leader-elect', '-lease-namespace=semaphore-policy', '-listen-address=127.0.0.1:0'],
    },
  });
  await policy.ready();
  await eventually(async () => (await found(local, `${SETS}/c2-default-checkout`))?.['spec'], {
    nets: ['10.4.1.38/32'],
  });

  expect(await stopped(policy)).toBe(0);
});

it('service-mirror: a Service of one cluster is mirrored in the other', async ({ local, remote, startPod }) => {
  await remote.admin.create(
    '/api/v1/namespaces/default/services',
    service({ name: 'web', selector: null, labels: { mirror: 'true' } }),
  );
  await remote.admin.create(
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    endpointSlice({ name: 'web-1', service: 'web', labels: { mirror: 'true' }, endpoints: ['10.4.1.38'] }),
  );
  const mirror = await startPod({
    app: 'service-mirror',
    config: {
      global: { mirrorSvcLabelSelector: 'mirror=true', mirrorNamespace: 'sys-semaphore' },
      localCluster: { name: 'c1' },
      remoteClusters: [{ ...entryOf(remote), servicePrefix: 'c2' }],
    },
    options: { args: [`-config=${config}`, '-leader-elect', '-listen-address=127.0.0.1:0'] },
  });
  await mirror.ready();
  const name = 'c2-default-73736d-web';
  await eventually(async () => (await found(local, `/api/v1/${MIRRORS}/services/${name}`)) !== undefined, true);
  await eventually(async () => {
    const slices = await local.admin.list(
      `/apis/discovery.k8s.io/v1/${MIRRORS}/endpointslices?labelSelector=kubernetes.io/service-name=${name}`,
    );
    return slices.flatMap((slice) =>
      (slice['endpoints'] as { addresses: string[] }[]).flatMap(({ addresses }) => addresses),
    );
  }, ['10.4.1.38']);

  expect(await stopped(mirror)).toBe(0);
});

it('wireguard: a node has a tunnel, by a sidecar of the same image', async ({
  local,
  remote,
  machine,
  dir,
  startPod,
  start,
}) => {
  const [sockets, keys] = [join(dir, 'sockets'), join(dir, 'keys')];
  await mkdir(sockets);
  await mkdir(keys, { mode: 0o700 });
  const shared = { capabilities: ['NET_ADMIN'], place: machine, env: { SWG_NODE_NAME: 'n1' } };
  await local.admin.create(
    '/api/v1/nodes',
    node({ name: 'n1', podCIDRs: ['10.2.1.0/24'], internalIPs: [machine.ipv4] }),
  );
  const sidecar = start({
    ...shared,
    image: imageName('wireguard'),
    command: '/usr/local/lib/semaphore-wireguard/wireguard-go',
    args: ['-f', 'wireguard.c2'],
    devices: ['/dev/net/tun'],
    mounts: { '/run/wireguard': `${sockets}:rw` },
  });
  const agent = await startPod({
    app: 'wireguard',
    config: { local: { name: 'c1' }, remotes: [{ ...entryOf(remote), podSubnet: '10.4.0.0/16' }] },
    options: {
      ...shared,
      args: [`-clusters-config=${config}`, '-listen-address=127.0.0.1:7773', '-userspace=always'],
      mounts: { '/run/wireguard': `${sockets}:rw`, '/var/lib/semaphore-wireguard': `${keys}:rw` },
    },
  });
  await agent.ready();
  await eventually(
    async () =>
      (await found(local, '/api/v1/nodes/n1'))?.metadata.annotations?.['c2.wireguard.semaphore.uw.io/endpoint'],
    `${machine.ipv4}:51820`,
  );
  expect(JSON.parse(await machine.run('ip', ['-json', 'route', 'show', 'dev', 'wireguard.c2']))).toMatchObject([
    { dst: '10.4.0.0/16' },
  ]);

  expect(await stopped(agent)).toBe(0);
  expect(await stopped(sidecar)).not.toBe(KILLED);
});
