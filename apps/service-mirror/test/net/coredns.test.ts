import { isIPv6 } from 'node:net';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { type RealCluster, startCoreDns } from '@kube-semaphore/testkit';
import { ask as askServer, type Network, type Place } from '@kube-semaphore/testnet';
import { describe, expect, onTestFinished } from 'vitest';
import { deployedCorefile, documentedCorefile } from '../support/net/corefile.ts';
import type { RecordType } from '../support/net/dns-message.ts';
import { globalLabels, it as itOnNetwork } from '../support/net/it.ts';
import { ask } from '../support/net/programs.ts';

/** A separate node with CoreDNS. */
async function startDns({
  cluster,
  network,
  name,
  corefile,
}: {
  cluster: RealCluster;
  network: Network;
  name: string;
  corefile: string;
}) {
  const node = await network.addNode(name);
  await node.forward(Number(new URL(cluster.url).port));
  return { node, coreDns: await startCoreDns({ cluster, node, corefile }) };
}

/** A test with CoreDNS as our page has it, and as it is deployed for the Go program. */
const it = itOnNetwork
  .extend('dns', { scope: 'file' }, async ({ network, realClusters }, { onCleanup }): Promise<Place> => {
    const { node, coreDns } = await startDns({
      cluster: realClusters.local,
      network,
      name: 'documented',
      corefile: documentedCorefile(),
    });
    onCleanup(() => coreDns.stop());
    return node;
  })
  .extend('deployedDns', { scope: 'file' }, async ({ network, realClusters }, { onCleanup }): Promise<Place> => {
    const { node, coreDns } = await startDns({
      cluster: realClusters.local,
      network,
      name: 'deployed',
      corefile: deployedCorefile,
    });
    onCleanup(() => coreDns.stop());
    return node;
  });

/** Waits until a name has exactly these records, and the answer has these addresses. */
const resolves = (
  dns: Place,
  name: string,
  type: RecordType,
  answers: readonly string[],
  additional: readonly string[] = [],
) => eventually(() => ask(dns, name, type), { status: 'NOERROR', answers, additional });

/** Of a Service, one of each family. */
const addressesOf = (object: KubeObject): readonly string[] =>
  (object['spec'] as { clusterIPs: readonly string[] }).clusterIPs;

const dualStack = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };
const endpointOf = (hostname: string, address: string) => ({
  addresses: [address],
  hostname,
  conditions: { ready: true },
});

// CoreDNS caches answers for some seconds, so each test has its own Service.
describe('a mirrored Service', () => {
  it.for([
    { server: 'the documented configuration', deployed: false, name: 'web' },
    { server: 'the one that is deployed for the Go program', deployed: true, name: 'api' },
  ])(
    'resolves to its addresses, under the queried name, with $server',
    async ({ deployed, name }, { dns, deployedDns, sources, mirrors, start }) => {
      const mirror = `c2-default-73736d-${name}`;
      await sources.add({ name, spec: dualStack });
      await start();
      await mirrors.become({ [mirror]: [] });
      const [ipv4, ipv6] = addressesOf(await mirrors.service(mirror));
      const asked = `${name}.default.svc.cluster.c2`;
      await resolves(deployed ? deployedDns : dns, asked, 'A', [`${asked} A ${ipv4}`]);
      await resolves(deployed ? deployedDns : dns, asked, 'AAAA', [`${asked} AAAA ${ipv6}`]);
    },
  );

  it('has SRV records that resolve to it', async ({ dns, sources, mirrors, start }) => {
    await sources.add({
      name: 'srv',
      ports: [
        { name: 'http', port: 80 },
        { name: 'admin', port: 9_000 },
      ],
      spec: dualStack,
    });
    await start();
    await mirrors.become({ 'c2-default-73736d-srv': [] });
    const [ipv4, ipv6] = addressesOf(await mirrors.service('c2-default-73736d-srv'));
    const name = 'srv.default.svc.cluster.c2';
    await resolves(
      dns,
      `_admin._tcp.${name}`,
      'SRV',
      [`_admin._tcp.${name} SRV 9000 ${name}`],
      [`${name} A ${ipv4}`, `${name} AAAA ${ipv6}`],
    );
  });

  it('without an address resolves to its pods, each by its hostname', async ({ dns, sources, mirrors, start }) => {
    await sources.add({ name: 'db', headless: true });
    await sources.addSlice({
      name: 'db-a',
      service: 'db',
      endpoints: [endpointOf('db-0', '10.4.0.1'), endpointOf('db-1', '10.4.0.2')],
    });
    await sources.addSlice({ name: 'db-b', service: 'db', endpoints: [endpointOf('db-0', 'fd04::1')] });
    await start();
    await mirrors.become({ 'c2-default-73736d-db': ['10.4.0.1', '10.4.0.2', 'fd04::1'] });
    const name = 'db.default.svc.cluster.c2';
    await resolves(dns, name, 'A', [`${name} A 10.4.0.1`, `${name} A 10.4.0.2`]);
    await resolves(dns, `db-0.${name}`, 'A', [`db-0.${name} A 10.4.0.1`]);
    await resolves(dns, `db-0.${name}`, 'AAAA', [`db-0.${name} AAAA fd04::1`]);
    await resolves(dns, `db-1.${name}`, 'A', [`db-1.${name} A 10.4.0.2`]);
    const srv = [`_http._tcp.${name} SRV 8080 db-0.${name}`, `_http._tcp.${name} SRV 8080 db-1.${name}`];
    await resolves(dns, `_http._tcp.${name}`, 'SRV', srv, [
      `db-0.${name} A 10.4.0.1`,
      `db-0.${name} AAAA fd04::1`,
      `db-1.${name} A 10.4.0.2`,
    ]);
  });
});

describe('a Pod without a hostname', () => {
  /** Answers with the names of Pods only where slices have them. */
  const plainDns = documentedCorefile().replace(/^ *endpoint_pod_names\n/m, '');

  it('resolves by its name in a headless Service, also without endpoint_pod_names', async ({
    realClusters,
    network,
    dns,
    sources,
    mirrors,
    start,
  }) => {
    expect(plainDns).not.toContain('endpoint_pod_names');
    const { node, coreDns } = await startDns({
      cluster: realClusters.local,
      network,
      name: 'plain',
      corefile: plainDns,
    });
    onTestFinished(() => coreDns.stop());
    await sources.add({ name: 'cache', headless: true });
    const targetRef = { kind: 'Pod', namespace: 'default', name: 'cache-7d4b9' };
    const endpoints = [{ addresses: ['10.4.0.1'], targetRef, conditions: { ready: true } }];
    await sources.addSlice({ name: 'cache-a', service: 'cache', endpoints });
    await start();
    await mirrors.become({ 'c2-default-73736d-cache': ['10.4.0.1'] });
    const name = 'cache.default.svc.cluster.c2';
    for (const server of [dns, node]) {
      await resolves(server, `cache-7d4b9.${name}`, 'A', [`cache-7d4b9.${name} A 10.4.0.1`]);
      await resolves(
        server,
        `_http._tcp.${name}`,
        'SRV',
        [`_http._tcp.${name} SRV 8080 cache-7d4b9.${name}`],
        [`cache-7d4b9.${name} A 10.4.0.1`],
      );
    }
  });
});

describe('a name', () => {
  it.for(['nobody.default.svc.cluster.c2', 'nobody.default.svc.cluster.global', 'nobody.default.svc.cluster.local'])(
    'that no Service has does not resolve: %s',
    // CoreDNS may listen before it has read the cluster, and answers SERVFAIL until then.
    (name, { dns }) => eventually(() => ask(dns, name, 'A'), { status: 'NXDOMAIN', answers: [], additional: [] }),
  );

  it.for([
    { what: 'a Service and a namespace', name: `${'a'.repeat(40)}.${'b'.repeat(40)}.svc.cluster.c2` },
    { what: 'all of it', name: `${'a.'.repeat(105)}web.default.svc.cluster.global` },
  ])('that is too long for a mirror does not exist: $what', ({ name }, { dns }) =>
    eventually(() => ask(dns, name, 'A'), { status: 'NXDOMAIN', answers: [], additional: [] }),
  );

  it('of the local cluster is unchanged', async ({ dns, local }) => {
    const [ipv4] = addressesOf(await local.admin.get('/api/v1/namespaces/default/services/kubernetes'));
    await resolves(dns, 'kubernetes.default.svc.cluster.local', 'A', [
      `kubernetes.default.svc.cluster.local A ${ipv4}`,
    ]);
  });
});

describe('a global Service', () => {
  it('resolves to its addresses and SRV records', async ({ dns, sources, localSources, mirrors, startGlobal }) => {
    for (const each of [sources, localSources]) await each.add({ name: 'shop', labels: globalLabels, spec: dualStack });
    await startGlobal();
    await mirrors.become({ 'gl-default-73736d-shop': [] });
    const [ipv4, ipv6] = addressesOf(await mirrors.service('gl-default-73736d-shop'));
    const name = 'shop.default.svc.cluster.global';
    await resolves(dns, name, 'A', [`${name} A ${ipv4}`]);
    await resolves(dns, name, 'AAAA', [`${name} AAAA ${ipv6}`]);
    await resolves(
      dns,
      `_http._tcp.${name}`,
      'SRV',
      [`_http._tcp.${name} SRV 80 ${name}`],
      [`${name} A ${ipv4}`, `${name} AAAA ${ipv6}`],
    );
  });

  it('without an address resolves to the pods of all clusters', async ({
    dns,
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const pods = [
      { cluster: localSources, endpoint: endpointOf('kv-0', '10.3.0.1') },
      { cluster: sources, endpoint: endpointOf('kv-1', '10.4.0.1') },
    ];
    for (const { cluster, endpoint } of pods) {
      await cluster.add({ name: 'kv', labels: globalLabels, headless: true });
      await cluster.addSlice({ name: 'kv-a', service: 'kv', labels: globalLabels, endpoints: [endpoint] });
    }
    await startGlobal();
    await mirrors.become({ 'gl-default-73736d-kv': ['10.3.0.1', '10.4.0.1'] });
    const name = 'kv.default.svc.cluster.global';
    await resolves(dns, name, 'A', [`${name} A 10.3.0.1`, `${name} A 10.4.0.1`]);
    await resolves(dns, `kv-0.${name}`, 'A', [`kv-0.${name} A 10.3.0.1`]);
    await resolves(dns, `kv-1.${name}`, 'A', [`kv-1.${name} A 10.4.0.1`]);
  });

  it.for([
    { what: 'no domain name', name: 'queue', pod: 'a..b' },
    { what: 'a name of several labels', name: 'bus', pod: 'db-0.db.default.svc' },
    { what: 'a name that is too long for a label', name: 'log', pod: 'x'.repeat(64) },
  ])(
    'has its SRV records, also if a Pod of another cluster is called $what',
    async ({ name: service, pod }, { dns, sources, localSources, mirrors, startGlobal }) => {
      const pods = [
        {
          cluster: localSources,
          endpoint: {
            ...endpointOf('', '10.3.0.1'),
            hostname: undefined,
            targetRef: { kind: 'Pod', namespace: 'default', name: `${service}-0` },
          },
        },
        {
          cluster: sources,
          endpoint: {
            ...endpointOf('', '10.4.0.1'),
            hostname: undefined,
            targetRef: { kind: 'Pod', namespace: 'kube-system', name: pod },
          },
        },
      ];
      for (const { cluster, endpoint } of pods) {
        await cluster.add({ name: service, labels: globalLabels, headless: true });
        await cluster.addSlice({ name: `${service}-a`, service, labels: globalLabels, endpoints: [endpoint] });
      }
      await startGlobal();
      await mirrors.become({ [`gl-default-73736d-${service}`]: ['10.3.0.1', '10.4.0.1'] });
      const name = `${service}.default.svc.cluster.global`;
      const own = { host: `${service}-0.${name}`, address: '10.3.0.1' };
      const others = { host: `10-4-0-1.${name}`, address: '10.4.0.1' };
      const srv = [own, others].map(({ host }) => `_http._tcp.${name} SRV 8080 ${host}`).toSorted();
      await resolves(
        dns,
        `_http._tcp.${name}`,
        'SRV',
        srv,
        [own, others].map(({ host, address }) => `${host} A ${address}`).toSorted(),
      );
    },
  );
});

describe('the status', () => {
  it('says what DNS answers where the program runs, also another server than CoreDNS', async ({
    realClusters,
    network,
    sources,
    localSources,
    mirrors,
    startGlobal,
  }) => {
    const { local: cluster, remote } = realClusters;
    const name = 'asked';
    const { node, coreDns } = await startDns({ cluster, network, name, corefile: documentedCorefile() });
    onTestFinished(() => coreDns.stop());
    await node.forward(Number(new URL(remote.url).port));
    const asksItself = () => node.run('sh', ['-c', 'echo nameserver 127.0.0.1 > /run/resolv.conf']);
    await asksItself();

    await sources.add({ name, spec: dualStack });
    await sources.addSlice({ name: 'asked-a', service: name, endpoints: ['10.4.0.1'] });
    await localSources.add({ name, labels: globalLabels, spec: { ipFamilies: ['IPv6'] } });
    await localSources.addSlice({ name: 'asked-a', service: name, labels: globalLabels, endpoints: ['fd03::1'] });
    const program = await startGlobal({ place: node, env: { PATH: process.env['PATH'] ?? '' } });
    await mirrors.become({ 'c2-default-73736d-asked': ['10.4.0.1'], 'gl-default-73736d-asked': ['fd03::1'] });
    const asked = await Promise.all(
      Object.entries({ c2: 'c2', global: 'gl' }).map(async ([zone, prefix]) => {
        const [address] = addressesOf(await mirrors.service(`${prefix}-default-73736d-asked`));
        return { remote: zone, name: `asked.default.svc.cluster.${zone}`, address };
      }),
    );
    expect(asked.map(({ address = '' }) => isIPv6(address))).toEqual([false, true]);
    const names = async () => ((await program.status()) as { readonly names: unknown }).names;
    await eventually(
      names,
      asked.map((each) => ({ ...each, answers: [each.address] })),
    );

    const queries = async () => {
      const { body } = await askServer(node, 9_153, '/metrics');
      return Array.from(body.matchAll(/^coredns_dns_requests_total\{.* (\d+)$/gm)).reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const [before, sinceMs] = [await queries(), performance.now()];
    for (let read = 0; read < 5; read += 1) await names();
    const rounds = Math.ceil((performance.now() - sinceMs) / 10_000);
    // Two names, of which each may be asked for twice if an answer is late.
    expect((await queries()) - before).toBeLessThanOrEqual(4 * rounds);

    await coreDns.stop();
    const corefile = '.:53 {\n    template ANY ANY {\n        rcode SERVFAIL\n    }\n}\n';
    const other = await startCoreDns({ cluster, node, corefile });
    onTestFinished(() => other.stop());
    await asksItself();
    await eventually(
      names,
      asked.map((each) => ({ ...each, error: 'ESERVFAIL' })),
    );
  });
});
