import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect } from 'vitest';
import { announce, ownNode, it } from './support/it.ts';

const newPublicKey = (): string => publicKeyOf(generatePrivateKey());

describe('an agent that can’t create a device', () => {
  it('logs it once, isn’t ready, retries, announces nothing, and stops on a signal', async ({
    spawn,
    addNode,
    local,
    keyFolder,
  }) => {
    await addNode(local, ownNode);
    const agent = await spawn();
    await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    const failures = () => agent.metric('semaphore_wg_sync_peers_total', { device: 'wireguard.c2', success: '0' });
    const before = (await failures()) ?? 0;
    await eventually(async () => ((await failures()) ?? 0) > before, true);
    expect(await agent.get('/readyz')).toEqual({ status: 503, body: 'no device yet for c2\n' });
    expect(await agent.get('/healthz')).toMatchObject({ status: 200 });
    expect(agent.log().filter(({ msg }) => msg === 'reconcile failed, retrying')).toHaveLength(1);
    expect((await local.admin.get('/api/v1/nodes/n1')).metadata.annotations ?? {}).toEqual({});
    expect(await agent.stop()).toMatchObject({ code: 0 });
    const key = await readFile(join(keyFolder, 'wireguard.c2.key'), 'utf8');
    expect(agent.stderr()).not.toContain(key.trim());
  });

  it('keeps its key across restarts', async ({ spawn, addNode, local, keyFolder }) => {
    await addNode(local, ownNode);
    const key = () => readFile(join(keyFolder, 'wireguard.c2.key'), 'utf8');
    const first = await spawn();
    await first.logged('private key written');
    const before = await key();
    await first.stop();
    const second = await spawn();
    await second.logged('reconcile failed, retrying');
    expect(await key()).toBe(before);
  });

  it('warns of ignored fields in its config', async ({ spawn, addNode, local }) => {
    await addNode(local, ownNode);
    const agent = await spawn({ remote: { remoteAPIURL: 'https://c2' } });
    await agent.logged('remotes[0].remoteAPIURL is ignored: kubeConfigPath overrides it', { level: 'warn' });
    expect(agent.log().filter(({ msg }) => msg.includes('is ignored'))).toHaveLength(1);
  });

  it('logs a new problem', async ({ spawn, addNode, local, keyFolder }) => {
    await addNode(local, ownNode);
    const agent = await spawn();
    await agent.logged('reconcile failed, retrying', { cluster: 'c2' });
    const file = join(keyFolder, 'wireguard.c2.key');
    await writeFile(file, 'broken');
    await eventually(
      () =>
        agent
          .log()
          .filter(
            ({ msg, error }) =>
              msg === 'reconcile failed, retrying' &&
              (error as { message: string }).message.startsWith(`${file} has no valid private key`),
          ).length,
      1,
    );
  });
});

describe('a peer that does not answer', () => {
  it('is logged once, and once more when it is back', async ({ local, remote, addNode, bareNode, spawn }) => {
    const [key, publicKey] = [generatePrivateKey(), publicKeyOf(generatePrivateKey())];
    const [endpoint, allowedIps] = ['198.51.100.1:51820', '10.4.1.0/24'];
    await addNode(local, ownNode);
    await addNode(remote, { name: 'r1', podCIDRs: [allowedIps], annotations: announce(publicKey, endpoint) });
    const show = (handshakeSeconds: number, sentBytes: number) =>
      bareNode.show({
        remote: 'c2',
        privateKey: key.reveal(),
        publicKey: publicKeyOf(key),
        peers: [{ publicKey, endpoint, allowedIps, handshakeSeconds, sentBytes }],
      });
    const now = () => Math.floor(Date.now() / 1_000);

    const observations = async () =>
      (await bareNode.calls()).filter((call) => call === 'wg show wireguard.c2 dump').length;

    await show(now() + 600, 148);
    const agent = await spawn({ flags: { 'observe-period': '1s', 'stale-handshake': '2s' } });
    await agent.ready();
    expect(await agent.metric('semaphore_wg_peers', { device: 'wireguard.c2', state: 'up' })).toBe(1);
    const lostAt = now() - 10;
    await show(lostAt, 148);
    // The first may have begun earlier.
    const before = await observations();
    await eventually(async () => (await observations()) >= before + 2, true);
    expect(agent.log().filter(({ msg }) => msg.startsWith('peer '))).toEqual([]);
    await show(lostAt, 296);
    expect(await agent.logged('peer does not answer', { cluster: 'c2' })).toMatchObject({
      level: 'warn',
      peer: publicKey,
      endpoint,
      allowedIps: [allowedIps],
    });
    expect(await agent.metric('semaphore_wg_peers', { device: 'wireguard.c2', state: 'stale' })).toBe(1);
    const peer = { node: 'r1', publicKey, state: 'stale', endpoint, sentBytes: 296, allowedIps: [allowedIps] };
    const remotes = [{ name: 'c2', synced: true, objects: { nodes: 1 }, device: { marked: true }, peers: [peer] }];
    expect(await agent.status()).toMatchObject({ app: 'semaphore-wireguard', local: { synced: true }, remotes });
    await show(now() + 600, 444);
    await agent.logged('peer answers again', { cluster: 'c2', peer: publicKey });
    expect(agent.log().filter(({ msg }) => msg.startsWith('peer '))).toHaveLength(2);
  });
});

describe('a Node of a remote that changes', () => {
  it('changes its peer by one call, and nothing is read', async ({ local, remote, addNode, bareNode, spawn }) => {
    const [key, publicKey, other] = [generatePrivateKey(), newPublicKey(), newPublicKey()];
    await addNode(local, ownNode);
    for (const [i, one] of [publicKey, other].entries()) {
      const annotations = announce(one, `198.51.100.${i}:51820`);
      await addNode(remote, { name: `r${i}`, podCIDRs: [`10.4.${i}.0/24`], annotations });
    }
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    const agent = await spawn({ flags: { 'observe-period': '1h' } });
    await agent.ready();
    // An event of our own Node, after the announcement, may still cause an observation.
    let port = 40_000;
    await eventually(async () => {
      const before = (await bareNode.calls()).length;
      const endpoint = `198.51.100.0:${++port}`;
      const patch = { metadata: { annotations: announce(publicKey, endpoint) } };
      await remote.admin.request('PATCH', '/api/v1/nodes/r0', patch, { contentType: 'application/merge-patch+json' });
      const calls = async () => (await bareNode.calls()).slice(before);
      await eventually(async () => (await calls()).some((call) => call.includes(endpoint)), true);
      return (await calls()).map((call) => call.replace(endpoint, 'ENDPOINT'));
    }, [`wg set wireguard.c2 peer ${publicKey} endpoint ENDPOINT`]);
  });
});

describe('packets of a remote whose source is replaced', () => {
  it('are counted, as the kernel does, and so are all bytes', async ({ local, addNode, bareNode, spawn }) => {
    const key = generatePrivateKey();
    const show = (refusedPackets: number) =>
      bareNode.show({
        remote: 'c2',
        privateKey: key.reveal(),
        publicKey: publicKeyOf(key),
        refusedPackets,
        receivedBytes: 100 * refusedPackets,
      });
    await addNode(local, ownNode);
    await show(7);
    const agent = await spawn({ flags: { 'observe-period': '1s' } });
    await agent.ready();
    expect(await agent.status()).toMatchObject({ remotes: [{ name: 'c2', refusedPackets: 7 }] });
    const counted = () => agent.metric('semaphore_wg_refused_packets_total', { remote: 'c2' });
    expect(await counted()).toBe(0);
    await show(12);
    await eventually(counted, 5);
    expect(await agent.metric('semaphore_wg_receive_bytes_total', { remote: 'c2' })).toBe(500);
    expect(await agent.metric('semaphore_wg_transmit_bytes_total', { remote: 'c2' })).toBe(50);
    expect(await agent.status()).toMatchObject({ remotes: [{ name: 'c2', refusedPackets: 12 }] });
  });
});
