import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect, onTestFinished } from 'vitest';
import { addBlock, defineIpam } from './support/calico-ipam.ts';
import { announce, ownNode as ipv4Node, it } from './support/it.ts';

const ownNode = { ...ipv4Node, internalIPs: ['192.0.2.1', 'fd31::1'] };

/** The annotations of a Node. */
const annotationsOf = async (cluster: TestCluster, name: string) =>
  (await cluster.admin.get(`/api/v1/nodes/${name}`)).metadata.annotations;

/** What an API server takes much longer than, and one that is away always has. */
const TIMEOUT = { timeout: '10s' };

/** A kubeconfig for a port where no server listens. */
async function unreachableKubeconfig(dir: string): Promise<string> {
  const path = join(dir, 'unreachable');
  const cluster = { server: 'https://127.0.0.1:1', 'insecure-skip-tls-verify': false };
  await writeFile(
    path,
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  return path;
}

describe('plan', () => {
  it('prints all changes of a new node, and why Nodes are skipped, and changes nothing', async ({
    run,
    addNode,
    local,
    remote,
    keyFolder,
  }) => {
    const [good, bad] = [publicKeyOf(generatePrivateKey()), 'no key'];
    await addNode(local, ownNode);
    await addNode(remote, { name: 'r1', podCIDRs: ['10.4.1.0/24'], annotations: announce(good, '198.51.100.1:51820') });
    await addNode(remote, { name: 'r2', podCIDRs: ['10.4.2.0/24'], annotations: announce(bad, '198.51.100.2:51820') });
    await addNode(remote, { name: 'r3', podCIDRs: ['10.4.3.0/24'] });
    const { code, stdout } = await run({ word: 'plan' });
    expect(stdout.split('\n')).toEqual([
      `create  key         ${join(keyFolder, 'wireguard.c2.key')}  a new one`,
      'create  device      wireguard.c2  port 51820, mtu 1420, up, alias "semaphore-wireguard c2"',
      'create  route       10.4.0.0/16  through wireguard.c2',
      'create  annotation  c2.wireguard.semaphore.uw.io/pubKey  (the new key)',
      'create  annotation  c2.wireguard.semaphore.uw.io/endpoint  192.0.2.1:51820',
      `create  peer        ${good}  r1  198.51.100.1:51820  10.4.1.0/24`,
      '',
      'c2: 2 skipped',
      expect.stringMatching(/^skip! {4}r2: its public key is invalid: /),
      'skip     r3: it has no annotations from a semaphore-wireguard of its cluster',
      '',
    ]);
    expect([code, await readdir(keyFolder), (await annotationsOf(local, 'n1')) ?? {}]).toEqual([0, [], {}]);
  });

  it('skips a Node that is too large, and no other', async ({ run, addNode, local, remote }) => {
    const [good, large] = [publicKeyOf(generatePrivateKey()), publicKeyOf(generatePrivateKey())];
    await addNode(local, ownNode);
    await addNode(remote, { name: 'r1', podCIDRs: ['10.4.1.0/24'], annotations: announce(good, '198.51.100.1:51820') });
    const addresses = Array.from({ length: 1_001 }, (_, i) => `198.51.${100 + (i >> 8)}.${i & 255}`);
    await addNode(remote, {
      name: 'r2',
      podCIDRs: ['10.4.2.0/24'],
      internalIPs: addresses,
      annotations: announce(large, '198.51.100.2:51820'),
    });
    const { stdout } = await run({ word: 'plan' });
    expect(stdout).toContain(`create  peer        ${good}  r1`);
    expect(stdout).not.toContain(large);
    expect(stdout).toMatch(/^skip! {4}r2: .*addresses has more than 1000 elements$/m);
  });

  it('announces the address of the configured family', async ({ run, addNode, local }) => {
    await addNode(local, ownNode);
    const { stdout } = await run({ word: 'plan', remote: { endpointFamily: 'ipv6' } });
    expect(stdout).toContain('c2.wireguard.semaphore.uw.io/endpoint  [fd31::1]:51820\n');
  });

  it('uses Calico’s IPAM for the CIDRs of Nodes if the config says so', async ({ run, addNode, local, remote }) => {
    await defineIpam(remote);
    const [one, two] = [publicKeyOf(generatePrivateKey()), publicKeyOf(generatePrivateKey())];
    await addNode(local, ownNode);
    await addNode(remote, { name: 'r1', podCIDRs: ['10.4.1.0/24'], annotations: announce(one, '198.51.100.1:51820') });
    await addNode(remote, { name: 'r2', podCIDRs: ['10.4.2.0/24'], annotations: announce(two, '198.51.100.2:51820') });
    const [cidr, borrowed] = ['10.4.77.0/26', '10.4.77.3/32'];
    await addBlock(remote, { cidr, node: 'r1', uses: { 1: 'r1', 3: 'r2' } });
    const { code, stdout } = await run({ word: 'plan', remote: { allowedIPsFrom: 'calico-blocks' } });
    expect(stdout.split('\n').filter((line) => line.includes('  peer '))).toEqual(
      [
        `create  peer        ${one}  r1  198.51.100.1:51820  ${cidr}`,
        `create  peer        ${two}  r2  198.51.100.2:51820  ${borrowed}`,
      ].toSorted(),
    );
    expect(code).toBe(0);
  });

  it('says what stays of a remote that is not reached, and ends with 1', async ({ run, addNode, local, dir }) => {
    await addNode(local, ownNode);
    const { code, stdout } = await run({
      word: 'plan',
      flags: TIMEOUT,
      remote: { kubeConfigPath: await unreachableKubeconfig(dir) },
    });
    expect(stdout).toMatch(/^c2: not reached: .*ECONNREFUSED.*\nThe peers of its Nodes stay as they are:\n/m);
    // What doesn't depend on the remote is planned.
    expect([code, stdout.split('\n').filter((line) => line.startsWith('create  route'))]).toEqual([
      1,
      ['create  route       10.4.0.0/16  through wireguard.c2'],
    ]);
  });

  it('warns of a remote that is the local cluster at another address', async ({ run, addNode, accounts, local }) => {
    await addNode(local, ownNode);
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const kubeConfigPath = await proxy.kubeconfig(accounts.local.agent);
    const { stderr } = await run({ word: 'plan', remote: { kubeConfigPath } });
    expect(stderr).toMatch(/: warning: .* \(c2\) leads to the same cluster as .*local\.kubeConfigPath/);
  });

  it('says what the API server would refuse', async ({ run, addNode, accounts, local, names }) => {
    await addNode(local, ownNode);
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const message = 'nodes "n1" is forbidden: ValidatingAdmissionPolicy \'frozen\' denied request: not now';
    await proxy.set({ kind: 'answer', status: 403, message }, { method: 'PATCH' });
    const kubeConfigPath = await proxy.kubeconfig(accounts.local.agent);
    const { code, stdout } = await run({ word: 'plan', file: { local: { name: names.local, kubeConfigPath } } });
    expect(stdout).toMatch(/^refuse! Node n1: ".*'frozen' denied request: not now"$/m);
    expect([code, (await annotationsOf(local, 'n1')) ?? {}]).toEqual([0, {}]);
  });

  it('prints JSON for programs', async ({ run, addNode, local }) => {
    await addNode(local, ownNode);
    const { code, stdout } = await run({ word: 'plan', flags: { o: 'json' } });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        orphans: [],
        remotes: [
          {
            remote: 'c2',
            reached: true,
            skipped: [],
            changes: expect.arrayContaining([
              { action: 'create', what: 'route', name: '10.4.0.0/16', detail: 'through wireguard.c2' },
            ]) as unknown,
          },
        ],
      },
    ]);
  });
});

describe('status', () => {
  it('prints missing peers, and says that the device does not exist', async ({ run, addNode, local, remote }) => {
    await addNode(local, ownNode);
    await addNode(remote, {
      name: 'r1',
      podCIDRs: ['10.4.1.0/24'],
      annotations: announce(publicKeyOf(generatePrivateKey()), '198.51.100.1:51820'),
    });
    expect(await run({ word: 'status' })).toMatchObject({
      code: 0,
      stdout: 'c2: wireguard.c2 does not exist\nmissing  r1\n',
    });
  });

  it('prints the status, then that there is no such Node, and ends with 1', async ({ run }) => {
    expect(await run({ word: 'status' })).toEqual({
      code: 1,
      stdout: 'c2: wireguard.c2 does not exist\n',
      stderr: 'semaphore-wireguard: there is no Node n1 in the local cluster: -node-name or SWG_NODE_NAME\n',
    });
  });

  it('says why a remote was not reached, and ends with 1', async ({ run, addNode, local, dir }) => {
    await addNode(local, ownNode);
    const { code, stdout } = await run({
      word: 'status',
      flags: TIMEOUT,
      remote: { kubeConfigPath: await unreachableKubeconfig(dir) },
    });
    expect(stdout.split('\n')).toEqual([
      'c2: wireguard.c2 does not exist',
      expect.stringMatching(/^c2: not reached: .*ECONNREFUSED/),
      'The Nodes of its peers, and skipped Nodes, are unknown.',
      '',
    ]);
    expect(code).toBe(1);
  });

  it('prints the peers although the local API server is not reached', async ({
    run,
    addNode,
    remote,
    bareNode,
    dir,
  }) => {
    const [key, peer] = [generatePrivateKey(), publicKeyOf(generatePrivateKey())];
    const [endpoint, allowedIps] = ['198.51.100.1:51820', '10.4.1.0/24'];
    await addNode(remote, { name: 'r1', podCIDRs: [allowedIps], annotations: announce(peer, endpoint) });
    await bareNode.show({
      remote: 'c2',
      privateKey: key.reveal(),
      publicKey: publicKeyOf(key),
      peers: [{ publicKey: peer, endpoint, allowedIps, sentBytes: 148 }],
    });
    expect(
      await run({
        word: 'status',
        flags: TIMEOUT,
        file: { local: { name: 'c1', kubeConfigPath: await unreachableKubeconfig(dir) } },
      }),
    ).toMatchObject({
      code: 0,
      stdout: [
        `c2: wireguard.c2, port 51820, public key ${publicKeyOf(key)}`,
        `never    r1  ${endpoint}  no handshake  0 B in  148 B out  ${allowedIps}\n`,
      ].join('\n'),
    });
  });
});

describe('cleanup', () => {
  it('removes devices although the Node is gone and a key file is broken', async ({ run, bareNode, keyFolder }) => {
    const key = generatePrivateKey();
    await writeFile(join(keyFolder, 'wireguard.c2.key'), 'no key', { mode: 0o600 });
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    expect(await run({ word: 'cleanup', flags: { yes: 'true' } })).toMatchObject({
      code: 0,
      stdout: [
        'There is no Node n1, so there are no annotations to remove.',
        'delete  device wireguard.c2 with its routes',
        'Cleaned up cluster all.\n',
      ].join('\n'),
    });
    expect((await bareNode.calls()).at(-1)).toBe('ip link delete dev wireguard.c2');
  });

  it('removes our annotations: of one remote, or of all', async ({ run, addNode, local }) => {
    const said = (cluster: string) => ({
      [`${cluster}.wireguard.semaphore.uw.io/pubKey`]: 'k',
      [`${cluster}.wireguard.semaphore.uw.io/endpoint`]: 'e',
    });
    await addNode(local, { ...ownNode, annotations: { note: 'stays', ...said('c2'), ...said('c3'), ...said('c4') } });
    expect(await run({ word: 'cleanup', flags: { cluster: 'c3', yes: 'true' } })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('delete  annotations of c3 on Node n1\n') as string,
    });
    expect(await annotationsOf(local, 'n1')).toEqual({ note: 'stays', ...said('c2'), ...said('c4') });
    expect(await run({ word: 'cleanup', flags: { yes: 'true' } })).toMatchObject({ code: 0 });
    expect(await annotationsOf(local, 'n1')).toEqual({ note: 'stays' });
  });

  it('says in one sentence that the local API server is not reached, and removes nothing', async ({
    run,
    bareNode,
    dir,
  }) => {
    const key = generatePrivateKey();
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    const file = { local: { name: 'c1', kubeConfigPath: await unreachableKubeconfig(dir) } };
    const { code, stderr } = await run({ word: 'cleanup', flags: { yes: 'true' }, file });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^semaphore-wireguard: [^{]*ECONNREFUSED[^{]*\n$/)]);
    expect((await bareNode.calls()).filter((call) => call.includes('delete'))).toEqual([]);
  });

  it('asks before it removes anything', async ({ run, addNode, local }) => {
    await addNode(local, ownNode);
    expect(await run({ word: 'cleanup' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use -yes') as string,
    });
  });
});
