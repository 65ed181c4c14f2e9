import { eventually } from '@kube-semaphore/eventually';
import { deployedCrds, node as nodeObject, startCoreDns, startKubeProxy } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { openMember, reconciled } from '../mcs/import-loop.ts';
import { MIRRORS } from '../support/mirror-process.ts';
import { documentedCorefile } from '../support/net/corefile.ts';
import type { RecordType } from '../support/net/dns-message.ts';
import { it as itOnNetwork, ZONE } from '../support/net/it.ts';
import { ask, whoAnswers } from '../support/net/programs.ts';
import { type Machine, runPod } from '../support/net/workload.ts';

/**
 * The specs of mcs-api's conformance suite that need DNS or traffic: R is required, O optional, numbered in the suite's order.
 * The others are in ../mcs/specs.test.ts. c1 has a node with kube-proxy and a client, and CoreDNS as the pages have it.
 */

const GROUP = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default';
const zoneOf = (name: string): string => `${name}.default.svc.clusterset.local`;

const it = itOnNetwork
  .extend('localOptions', { scope: 'file' }, () => ({ controllers: ['endpointslice-controller'] }))
  .extend('machines', { scope: 'file' }, async ({ network, realClusters: { local, remote } }) => {
    const [c1, c2] = [await network.addNode('c1'), await network.addNode('c2')];
    await c1.forward(Number(new URL(local.url).port));
    await local.admin.create('/api/v1/nodes', nodeObject({ name: 'c1', zone: ZONE, internalIPs: [c1.ipv4, c1.ipv6] }));
    await remote.admin.create('/api/v1/nodes', nodeObject({ name: 'c2', zone: ZONE, internalIPs: [c2.ipv4, c2.ipv6] }));
    await c1.run('ip', ['route', 'add', '10.4.0.0/16', 'via', c2.ipv4]);
    await c2.run('ip', ['route', 'add', '10.3.0.0/16', 'via', c1.ipv4]);
    return { c1: { cluster: local, node: c1 }, c2: { cluster: remote, node: c2 } } satisfies Record<string, Machine>;
  })
  .extend('client', { scope: 'file' }, async ({ machines: { c1 } }, { onCleanup }) => {
    const kubeProxy = await startKubeProxy({ ...c1, clusterCidr: '10.3.0.0/16,fd03::/32' });
    onCleanup(() => kubeProxy.stop());
    return c1.node.addPod(['10.3.0.99', 'fd03::99']);
  })
  .extend('members', { scope: 'file' }, async ({ realClusters: { local, remote } }, { onCleanup }) => {
    for (const cluster of [local, remote])
      for (const crd of deployedCrds('service-mirror/mcs')) await cluster.defineResource(crd);
    const members = [await openMember(local), await openMember(remote)] as const;
    onCleanup(async () => void (await Promise.all(members.map((member) => member.close()))));
    return members;
  })
  .extend('startDns', { scope: 'file' }, ({ network, realClusters: { local }, members: _kinds }, { onCleanup }) => {
    const started: Awaited<ReturnType<typeof startCoreDns>>[] = [];
    onCleanup(async () => void (await Promise.all(started.map((coreDns) => coreDns.stop()))));
    return async (name: string, corefile: string) => {
      const node = await network.addNode(name);
      await node.forward(Number(new URL(local.url).port));
      started.push(await startCoreDns({ cluster: local, node, corefile }));
      return async (asked: string, type: RecordType = 'A') => (await ask(node, asked, type)).answers;
    };
  })
  .extend('resolve', { scope: 'file' }, ({ startDns }) =>
    startDns('dns', [documentedCorefile(), documentedCorefile('mcs.md')].join('\n')),
  )
  .extend('exported', ({ machines, members: [local, remote] }) => async (name: string, ...from: ('c1' | 'c2')[]) => {
    const [apiVersion, kind] = ['multicluster.x-k8s.io/v1beta1', 'ServiceExport'];
    for (const cluster of from)
      await machines[cluster].cluster.admin.create(`${GROUP}/serviceexports`, { apiVersion, kind, metadata: { name } });
    await reconciled(name, { local, members: [local, remote] });
    const { ips } = (await machines.c1.cluster.admin.get(`${GROUP}/serviceimports/${name}`))['spec'] as {
      readonly ips: readonly string[];
    };
    return ips;
  });

const ports = (...numbers: readonly number[]) => numbers.map((port) => ({ name: `p${port}`, port, targetPort: 8080 }));

describe('a Service that is not exported', () => {
  it('R1: has no name and no address in another cluster', async ({ resolve, exported, machines, sources }) => {
    await runPod({ ...machines.c2, name: 'private-1', ips: ['10.4.1.1'], labels: { app: 'private' } });
    await sources.add({ name: 'private', selector: { app: 'private' } });
    await sources.add({ name: 'public', selector: { app: 'private' } });
    await exported('public', 'c2');
    await eventually(async () => (await resolve(zoneOf('public'))).length, 1);
    expect(await resolve(zoneOf('private'))).toEqual([]);
    const { status } = await machines.c1.cluster.admin.request('GET', `${GROUP}/serviceimports/private`);
    expect(status).toBe(404);
  });
});

describe('an exported Service with an address', () => {
  it('O4, O5, O6: resolves to it, with SRV records, and leaves the name of the local Service alone', async ({
    resolve,
    exported,
    sources,
    localSources,
    local,
  }) => {
    await localSources.add({ name: 'web', ports: ports(80) });
    await sources.add({ name: 'web', ports: ports(80) });
    const [ip] = await exported('web', 'c2');
    const name = zoneOf('web');
    await eventually(() => resolve(name), [`${name} A ${ip}`]);
    await eventually(() => resolve(`_p80._tcp.${name}`, 'SRV'), [`_p80._tcp.${name} SRV 80 ${name}`]);
    const { clusterIP } = (await local.admin.get('/api/v1/namespaces/default/services/web'))['spec'] as {
      readonly clusterIP: string;
    };
    expect(clusterIP).not.toBe(ip);
    expect(await resolve('web.default.svc.cluster.local')).toEqual([`web.default.svc.cluster.local A ${clusterIP}`]);
    // No name of one cluster's part.
    expect(await resolve(`c2.${name}`)).toEqual([]);
  });

  it('O7, O8: answers from the cluster that exports it, alone', async ({
    client,
    exported,
    machines,
    sources,
    localSources,
  }) => {
    for (const [cluster, each, ip] of [
      ['c1', localSources, '10.3.2.1'],
      ['c2', sources, '10.4.2.1'],
    ] as const) {
      await runPod({ ...machines[cluster], name: `shop-${cluster}`, ips: [ip], labels: { app: 'shop' } });
      await each.add({ name: 'shop', selector: { app: 'shop' } });
    }
    const [ip = ''] = await exported('shop', 'c2');
    await eventually(() => whoAnswers(client, ip, 80), ['shop-c2']);
  });

  it('O9, O10: answers on a port from the clusters that have it', async ({
    client,
    exported,
    machines,
    sources,
    localSources,
  }) => {
    for (const [cluster, ip] of [
      ['c1', '10.3.3.1'],
      ['c2', '10.4.3.1'],
    ] as const)
      await runPod({ ...machines[cluster], name: `api-${cluster}`, ips: [ip], labels: { app: 'api' } });
    await localSources.add({ name: 'api', selector: { app: 'api' }, ports: ports(80) });
    await sources.add({ name: 'api', selector: { app: 'api' }, ports: ports(80, 81) });
    const [ip = ''] = await exported('api', 'c1', 'c2');
    await eventually(() => whoAnswers(client, ip, 80), ['api-c1', 'api-c2']);
    await eventually(() => whoAnswers(client, ip, 81), ['api-c2']);
  });
});

describe('an exported headless Service', () => {
  it('O11, O12, O13: resolves to the Pods of all clusters, each by its host name and its cluster, with SRV records', async ({
    resolve,
    exported,
    sources,
    localSources,
  }) => {
    const endpointOf = (hostname: string, address: string, ready = true) => ({
      addresses: [address],
      hostname,
      conditions: { ready },
    });
    await localSources.add({ name: 'db', headless: true });
    await localSources.addSlice({ name: 'db-a', service: 'db', endpoints: [endpointOf('db-0', '10.3.4.1')] });
    await sources.add({ name: 'db', headless: true });
    await sources.addSlice({
      name: 'db-a',
      service: 'db',
      endpoints: [
        endpointOf('db-0', '10.4.4.1'),
        endpointOf('db-1', '10.4.4.2'),
        endpointOf('db-2', '10.4.4.3', false),
      ],
    });
    expect(await exported('db', 'c1', 'c2')).toEqual([]);
    const name = zoneOf('db');
    await eventually(
      () => resolve(name),
      ['10.3.4.1', '10.4.4.1', '10.4.4.2'].map((ip) => `${name} A ${ip}`),
    );
    for (const [host, ip] of [
      ['db-0.c1', '10.3.4.1'],
      ['db-0.c2', '10.4.4.1'],
      ['db-1.c2', '10.4.4.2'],
    ] as const)
      expect(await resolve(`${host}.${name}`)).toEqual([`${host}.${name} A ${ip}`]);
    expect(await resolve(`_http._tcp.${name}`, 'SRV')).toEqual(
      ['db-0.c1', 'db-0.c2', 'db-1.c2'].map((host) => `_http._tcp.${name} SRV 8080 ${host}.${name}`),
    );
  });
});

describe('a ServiceImport whose Service is in the mirror namespace', () => {
  it('has its name in a CoreDNS without the option multicluster, by the rule of global Services', async ({
    startDns,
    members: [local, remote],
    sources,
    realClusters,
  }) => {
    const rule = documentedCorefile()
      .replaceAll(/cluster(\\?)\.global/g, 'clusterset$1.local')
      .replaceAll('gl-', 'mcs-');
    const resolve = await startDns('old', rule);
    await sources.add({ name: 'old', ports: ports(80) });
    await realClusters.remote.admin.create(`${GROUP}/serviceexports`, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'old' },
    });
    await reconciled('old', { local, members: [local, remote], derivedNamespace: MIRRORS });
    const { spec } = await realClusters.local.admin.get(`${GROUP}/serviceimports/old`);
    const [ip] = (spec as { readonly ips: readonly string[] }).ips;
    const name = zoneOf('old');
    await eventually(() => resolve(name), [`${name} A ${ip}`]);
    await eventually(() => resolve(`_p80._tcp.${name}`, 'SRV'), [`_p80._tcp.${name} SRV 80 ${name}`]);
  });
});
