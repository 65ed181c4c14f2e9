import type { PolicyRule, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { node } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect } from 'vitest';
import { announce, ownNode, it } from './support/it.ts';

const NODE = '/api/v1/nodes/n1';
const LOCAL = { remote: 'local' };

const reading: PolicyRule = { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] };

async function grant({ admin }: TestCluster, role: string, rules: readonly PolicyRule[]): Promise<void> {
  const { status } = await admin.request('PATCH', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`, { rules });
  if (status !== 200) throw new Error(`the role ${role} can't be changed: ${status}`);
}

/** Changes the addresses of the Node, as kubelet does. */
async function readdress({ admin }: TestCluster, address: string): Promise<void> {
  const { status } = await admin.request('PATCH', `${NODE}/status`, {
    status: { addresses: [{ type: 'InternalIP', address }] },
  });
  if (status !== 200) throw new Error(`the Node can't be changed: ${status}`);
}

describe('our own Node', () => {
  it('that can’t be patched is logged once, shows the local cluster as down, and costs no peer', async ({
    local,
    remote,
    addNode,
    bareNode,
    spawn,
  }) => {
    const [key, peer] = [generatePrivateKey(), publicKeyOf(generatePrivateKey())];
    await using proxy = await startFaultProxy(local);
    const kubeconfig = await proxy.kubeconfig(await local.account('may-not-patch', [reading]));
    await addNode(local, ownNode);
    await addNode(remote, { name: 'r1', podCIDRs: ['10.4.1.0/24'], annotations: announce(peer, '198.51.100.1:51820') });
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    const agent = await spawn({ file: { local: { name: 'c1', kubeConfigPath: kubeconfig } } });
    const isUp = () => agent.metric('semaphore_wg_remote_up', LOCAL);
    const tries = async () => (await agent.metric('semaphore_wg_sync_requeue_total', { device: 'wireguard.c2' })) ?? 0;
    const refusals = () => agent.log().filter(({ msg }) => msg === 'reconcile failed, retrying');

    await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    await agent.ready();
    expect([await isUp(), await agent.metric('semaphore_wg_remote_up', { remote: 'c2' })]).toEqual([0, 1]);
    await eventually(
      async () =>
        (await bareNode.calls()).some((call) =>
          call.startsWith(`wg set wireguard.c2 peer ${peer} endpoint 198.51.100.1:51820`),
        ),
      true,
    );
    await eventually(async () => (await tries()) >= 5, true);
    expect([await isUp(), refusals().length]).toEqual([0, 1]);
    expect(JSON.stringify(refusals())).toContain('403');

    // An API server that is reached again doesn't grant the right to write.
    await proxy.set({ kind: 'refuse' });
    await agent.logged('watch failed', { cluster: 'local' });
    await proxy.clear();
    await agent.logged('API server recovered', { cluster: 'local' });
    const before = await tries();
    await eventually(async () => (await tries()) > before, true);
    await eventually(isUp, 0);

    await grant(local, 'may-not-patch', [{ ...reading, verbs: [...reading.verbs, 'patch'] }]);
    await agent.logged('recovered', { cluster: 'c2' });
    await eventually(isUp, 1);
    expect((await local.admin.get(NODE)).metadata.annotations).toMatchObject({
      'c2.wireguard.semaphore.uw.io/endpoint': '192.0.2.1:51820',
    });
  });

  it('with other addresses has the Nodes of remotes read again', async ({ local, remote, addNode, spawn }) => {
    await addNode(local, ownNode);
    await addNode(remote, {
      name: 'r1',
      podCIDRs: ['10.4.1.0/24'],
      annotations: announce(publicKeyOf(generatePrivateKey()), '192.0.2.9:51820'),
    });
    const agent = await spawn();
    const refused = () =>
      agent.metric('semaphore_wg_skipped_objects', { remote: 'c2', reason: 'refused-endpoint', kind: 'problem' });
    await agent.logged('remote nodes listed', { cluster: 'c2', nodes: 1 });
    expect(await refused()).toBeUndefined();
    await readdress(local, '192.0.2.9');
    await eventually(refused, 1);
    await readdress(local, '192.0.2.1');
    await eventually(refused, 0);
  });

  it('is announced where an administrator says, at once, and nowhere else', async ({
    local,
    addNode,
    bareNode,
    spawn,
  }) => {
    const key = generatePrivateKey();
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    await addNode(local, ownNode);
    const agent = await spawn({ remote: { endpointFamily: 'ipv4' }, flags: { 'observe-period': '1h' } });
    const chosen = async (address: string | null) => {
      const annotations = { 'wireguard.semaphore.uw.io/endpoint-address': address };
      const { status } = await local.admin.request('PATCH', NODE, { metadata: { annotations } });
      expect(status).toBe(200);
    };
    const endpoint = async () =>
      (await local.admin.get(NODE)).metadata.annotations?.['c2.wireguard.semaphore.uw.io/endpoint'];
    const unreachable = () =>
      agent.metric('semaphore_wg_skipped_objects', { remote: 'c2', reason: 'no-endpoint', kind: 'problem' });
    await eventually(endpoint, '192.0.2.1:51820');
    await chosen('203.0.113.7:4500');
    await eventually(endpoint, '203.0.113.7:4500');
    await chosen('2001:db8::7');
    await eventually(unreachable, 1);
    expect(await endpoint()).toBe('203.0.113.7:4500');
    await chosen(null);
    await eventually(endpoint, '192.0.2.1:51820');
    await eventually(unreachable, 0);
  });

  it('that is deleted is logged, and gets its annotations when it is back', async ({
    local,
    addNode,
    bareNode,
    spawn,
  }) => {
    const key = generatePrivateKey();
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    await addNode(local, ownNode);
    const announced = async () => (await local.admin.get(NODE)).metadata.annotations;
    const want = {
      'c2.wireguard.semaphore.uw.io/pubKey': publicKeyOf(key),
      'c2.wireguard.semaphore.uw.io/endpoint': '192.0.2.1:51820',
    };
    const agent = await spawn({ flags: { 'observe-period': '1h' } });
    // It is announced before the remote is listed.
    await agent.ready();
    await agent.logged('announced on our Node', { cluster: 'c2' });
    expect(await announced()).toEqual(want);
    await local.admin.delete(NODE);
    await agent.logged('our own Node is gone; devices and peers stay until it is back', { node: 'n1' });
    expect(await agent.get('/readyz')).toMatchObject({ status: 200 });
    await local.admin.create('/api/v1/nodes', node(ownNode));
    await eventually(announced, want);
  });
});
