import { eventually, isDefined } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { failingWrites, startCluster } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { expect } from 'vitest';
import { createAccounts } from '../support/accounts.ts';
import { announce, it as itOnClusters, ownNode } from '../support/it.ts';

const it = itOnClusters
  .extend('third', { scope: 'file' }, async ({ names: _names }, { onCleanup }) => {
    const cluster = await startCluster({ name: 'c3' });
    onCleanup(() => cluster.stop());
    return { cluster, kubeconfig: (await createAccounts(cluster)).reader.kubeconfig };
  })
  .extend('proxy', async ({ local }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  });

const NODE = '/api/v1/nodes/n1';
const PUB_KEY = 'c2.wireguard.semaphore.uw.io/pubKey';

const deviceOf = (remote: string) => {
  const key = generatePrivateKey();
  return { remote, privateKey: key.reveal(), publicKey: publicKeyOf(key) };
};

it('an announcement that can not be written delays no tunnel of another cluster, whatever the API server answers', async ({
  accounts,
  local,
  third,
  addNode,
  bareNode,
  proxy,
  spawn,
}) => {
  await addNode(local, ownNode);
  const device = deviceOf('c2');
  await bareNode.show(device, deviceOf('c3'));
  const remotes = [
    { name: 'c2', kubeConfigPath: accounts.remote.reader.kubeconfig, podSubnet: '10.4.0.0/16' },
    { name: 'c3', kubeConfigPath: third.kubeconfig, podSubnet: '10.5.0.0/16', wgListenPort: 51_821 },
  ];
  const kubeConfigPath = await proxy.kubeconfig(accounts.local.agent);
  const agent = await spawn({ file: { local: { name: 'c1', kubeConfigPath }, remotes } });
  await agent.ready();
  const announced = async () => (await local.admin.get(NODE)).metadata.annotations?.[PUB_KEY];
  await agent.logged('announced on our Node', { cluster: 'c3' });
  for (const [i, { name, fault }] of failingWrites.entries()) {
    await eventually(announced, device.publicKey, { what: `an announcement before ${name}` });
    await proxy.set(fault, { verb: 'patch', target: /\/nodes\/n1$/ });
    const before = proxy.requests().length;
    await local.admin.request('PATCH', NODE, { metadata: { annotations: { [PUB_KEY]: null } } });
    const failed = () => proxy.requests().filter((each, at) => at >= before && each.faults.length > 0);
    await eventually(async () => failed()[0], isDefined, { what: `an announcement that fails with ${name}` });
    const peer = publicKeyOf(generatePrivateKey());
    await addNode(third.cluster, {
      name: `r${i}`,
      podCIDRs: [`10.5.${i}.0/24`],
      annotations: announce(peer, `198.51.100.${i + 1}:51820`),
    });
    const follows = async () =>
      (await bareNode.calls()).some(
        (call) => call.startsWith('wg set wireguard.c3 ') && call.includes(` peer ${peer} `),
      );
    await eventually(follows, true, { what: `a peer of c3 beside ${name}` });
    expect(await announced()).toBeUndefined();
    const isFirstUnderWay = failed().length === 1 && proxy.underWay().some(({ verb }) => verb === 'patch');
    expect(fault.kind === 'stall' && !isFirstUnderWay, 'the tunnel waited until the announcement was given up').toBe(
      false,
    );
    await proxy.clear();
  }
  await eventually(announced, device.publicKey);
});
