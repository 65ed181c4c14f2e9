import { eventually } from '@kube-semaphore/eventually';
import { node as nodeObject, startKubeProxy } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { hostileService, hostileSlice } from '../support/hostile-sources.ts';
import type { LocalServices } from '../support/local-services.ts';
import { it as itOnNetwork } from '../support/net/it.ts';
import { serve, whoAnswers } from '../support/net/programs.ts';
import type { RemoteServices } from '../support/remote-services.ts';

type Mode = 'nftables' | 'iptables';
/** A pod on a node with kube-proxy, and the address of another one there, which answers with `good`. */
type ProxiedNode = { readonly client: Place; readonly podIp: string };

/** A test with a node for each mode of kube-proxy. */
const it = itOnNetwork.extend('nodes', { scope: 'file' }, async ({ network, realClusters }, { onCleanup }) => {
  const { local } = realClusters;
  const kubeProxies: { stop(): Promise<void> }[] = [];
  onCleanup(async () => void (await Promise.all(kubeProxies.map((kubeProxy) => kubeProxy.stop()))));
  const start = async (mode: Mode, podIp: string, clientIp: string): Promise<ProxiedNode> => {
    const node = await network.addNode(mode);
    await node.forward(Number(new URL(local.url).port));
    await local.admin.create('/api/v1/nodes', nodeObject({ name: mode, internalIPs: [node.ipv4, node.ipv6] }));
    kubeProxies.push(await startKubeProxy({ cluster: local, node, clusterCidr: '10.3.0.0/16,fd03::/32', mode }));
    await serve(await node.addPod([podIp]), 'good');
    return { client: await node.addPod([clientIp]), podIp };
  };
  return {
    nftables: await start('nftables', '10.3.0.1', '10.3.0.91'),
    iptables: await start('iptables', '10.3.0.2', '10.3.0.92'),
  };
});

const modes = ['nftables', 'iptables'] as const satisfies readonly Mode[];
const http = { name: 'http', protocol: 'TCP', port: 8_080 };
/** The longest name with the prefix and the namespace. */
const longName = 's'.repeat(63 - 'c2-default-73736d-'.length);

/** The least number that an API server must accept. */
const [SOME_SERVICES, SOME_SLICES] = [10, 50];

describe('what a remote has', () => {
  describe.each(modes)('with kube-proxy in %s mode', (mode) => {
    it.for([
      { what: 'a port above 65535', name: 'over', ports: [http, { ...http, name: 'bad', port: 70_000 }] },
      { what: 'a port below 0', name: 'under', ports: [http, { ...http, name: 'bad', port: -1 }] },
      { what: 'a port above 65535 alone', name: 'alone', ports: [{ ...http, port: 70_000 }] },
      { what: 'a port with a name of 63 characters', name: longName, portName: 'p'.repeat(63), ports: [http] },
    ])(
      'never prevents a new local Service from being served: $what',
      async ({ name, portName = 'bad', ports }, { nodes, sources, localSources, mirrors, start }) => {
        const { client, podIp } = nodes[mode];
        await sources.add({
          name,
          ports: [
            { name: portName, port: 80 },
            { name: 'http', port: 81 },
          ],
        });
        await sources.addSlice({ name: `${name}-a`, service: name, endpoints: ['10.4.9.1'], ports });
        await sources.addSlice({ name: `${name}-b`, service: name, endpoints: ['10.4.9.2'] });
        await start();
        await waitForEndpoint(mirrors, `c2-default-73736d-${name}`, '10.4.9.2');
        await addGood(localSources, podIp);
        await eventually(() => served(client, localSources), ['good']);
      },
    );

    it('never prevents a new local Service from being served: two hundred slices and forty Services of a hostile remote', async ({
      nodes,
      sources,
      localSources,
      mirrors,
      start,
    }) => {
      const { client, podIp } = nodes[mode];
      const names = Array.from({ length: 40 }, (_, i) => `${i % 2 === 0 ? 'svc' : longName.slice(0, -3)}-${i}`);
      const services = names.flatMap((name, seed) => fc.sample(hostileService(name), { numRuns: 1, seed }));
      const slices = fc.sample(hostileSlice(names), { numRuns: 200, seed: 11 });
      expect(await sources.addAccepted(services)).toBeGreaterThan(SOME_SERVICES);
      expect(await sources.addAccepted(slices)).toBeGreaterThan(SOME_SLICES);
      await start();
      // The last object that the watch reports.
      await sources.add({ name: 'last' });
      await sources.addSlice({ name: 'last-a', service: 'last', endpoints: ['10.4.9.9'] });
      await waitForEndpoint(mirrors, 'c2-default-73736d-last', '10.4.9.9');
      await addGood(localSources, podIp);
      await eventually(() => served(client, localSources), ['good']);
      expect((await mirrors.services()).length).toBeGreaterThan(SOME_SERVICES);
    });
  });
});

async function waitForEndpoint(mirrors: LocalServices, mirror: string, address: string): Promise<void> {
  const isThere = async () => (await mirrors.endpoints())[mirror]?.includes(address);
  await eventually(() => isThere(), true, { what: `${address} of ${mirror}` });
}

/** A Service of this cluster, with one endpoint. */
async function addGood(localSources: RemoteServices, podIp: string): Promise<void> {
  const labels = { mirror: 'false' };
  await localSources.add({ name: 'good', labels });
  await localSources.addSlice({ name: 'good-a', service: 'good', labels, endpoints: [podIp] });
}

/** Which pods answer at its address. */
async function served(client: Place, localSources: RemoteServices): Promise<readonly string[]> {
  const { clusterIP } = (await localSources.object('services', { name: 'good' }))['spec'] as { clusterIP: string };
  return whoAnswers(client, clusterIP, 80);
}
