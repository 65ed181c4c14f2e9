import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { eventually } from '@kube-semaphore/eventually';
import { expect, it, onTestFinished } from 'vitest';
import { kubeconfigOf } from './support/api-server.ts';
import { startPodsCluster } from './support/pods-cluster.ts';
import { appPod, remoteStatus } from './support/reports.ts';
import { afterContexts, run, start } from './support/run.ts';

/** The words of `test` with two clusters. */
async function wordsFor(c1: { url: string }, c2: { url: string }): Promise<readonly string[]> {
  const kubeconfig = await kubeconfigOf({ c1: c1.url, c2: c2.url });
  return ['test', '--kubeconfig', kubeconfig, '--context=c1', '--context=c2', '--image=node:24'];
}

const left = (name: string, phase: string) =>
  [name, { metadata: { name }, spec: { containers: [] }, status: { phase } }] as const;

it('calls each cluster from the other, prints what came through, and leaves only the Pods of other runs', async () => {
  const [c1, c2] = [await startPodsCluster('127.13.1.1'), await startPodsCluster('127.13.1.2')];
  for (const pod of [left('killed', 'Failed'), left('elsewhere', 'Running')]) c1.pods.set(...pod);
  const { code, stdout, stderr } = afterContexts(await run(...(await wordsFor(c1, c2))));
  expect([code, stderr]).toEqual([0, '']);
  const rows = stdout
    .replaceAll(/[\d.]+ (ms|MB\/s)/g, '9 $1')
    .replaceAll(/ +/g, ' ')
    .split('\n');
  expect(rows).toEqual([
    'FROM TO BY SMALL FULL SOURCE LATENCY THROUGHPUT',
    'c1 c2 pod IPv4 ✓ ✓ - 9 ms 9 MB/s',
    'c2 c1 pod IPv4 ✓ ✓ - 9 ms 9 MB/s',
    '',
  ]);
  expect([...c1.pods.keys(), ...c2.pods.keys()]).toEqual(['elsewhere']);
  expect(c1.created).toHaveLength(3);
});

it('calls all clusters that answer, and names those that do not', async () => {
  const [c1, c2, away] = [
    await startPodsCluster('127.13.5.1'),
    await startPodsCluster('127.13.5.2'),
    await startPodsCluster('127.13.5.3', { phase: 'Failed' }),
  ];
  const kubeconfig = await kubeconfigOf({ c1: c1.url, c2: c2.url, c3: away.url, c4: 'https://127.0.0.1:1' });
  const contexts = ['c1', 'c2', 'c3', 'c4'].map((name) => `--context=${name}`);
  const words = ['test', '--kubeconfig', kubeconfig, '--image=node:24', ...contexts];
  const { code, stdout, stderr } = afterContexts(await run(...words));
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ +/).slice(0, 6).join(' '));
  expect([code, rows]).toEqual([1, ['FROM TO BY SMALL FULL SOURCE', 'c1 c2 pod IPv4 ✓ ✓', 'c2 c1 pod IPv4 ✓ ✓']]);
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^semaphore: c4: https:\/\/127\.0\.0\.1:1 is not reached: /),
    expect.stringMatching(
      /^semaphore: c3: the Pod default\/semaphore-test-\w+ is Failed, not Running: see kubectl get events$/,
    ),
    '',
  ]);
  expect([c1, c2, away].map(({ pods }) => pods.size)).toEqual([0, 0, 0]);
});

it('prints JSON', async () => {
  const [c1, c2] = [await startPodsCluster('127.13.4.1'), await startPodsCluster('127.13.4.2')];
  const { code, stdout } = await run(...(await wordsFor(c1, c2)), '-o', 'json');
  expect(code).toBe(0);
  const answered = { by: 'pod', small: null, full: null, source: null, sourceAddress: null };
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: '1',
    calls: [
      { from: 'c1', to: 'c2', ...answered },
      { from: 'c2', to: 'c1', ...answered },
    ],
    refused: [],
  });
});

it('fails for a call that came from another address, whatever the other Pod says of it', async () => {
  const answers = (source: string) => `require('http').createServer((request, response) => {
    response.setHeader('source-address', ${JSON.stringify(source)});
    request.pipe(response);
  }).listen(8080);`;
  const [c1, c2] = [
    await startPodsCluster('127.13.6.1', { answers: answers(`evil\u00a0${'a'.repeat(2_000)}`) }),
    await startPodsCluster('127.13.6.2', { answers: answers('192.0.2.1') }),
  ];
  const { code, stdout } = await run(...(await wordsFor(c1, c2)));
  const rows = stdout.split('\n').map((row) => row.split(/ +/));
  expect([code, rows.slice(1, 3).map((row) => row.slice(4, 7))]).toEqual([
    1,
    [
      ['✓', '✓', '✗'],
      ['✓', '✓', '✗'],
    ],
  ]);
  expect(stdout.split('\n').slice(4)).toEqual([
    "✗ c1 to c2, http://127.13.6.2:8080/: arrives from 192.0.2.1, not from the Pod's 127.13.6.1: something replaces the " +
      'address of Pods (docs/wireguard.md#what-replaces-the-address-of-a-pod)',
    expect.stringMatching(
      /^✗ c2 to c1, http:\S+: the other Pod doesn't say where it comes from: "evil.a{59}"… is not a valid IP address$/,
    ),
    '',
  ]);
});

it('says how many packets the node of a Pod refused that did not answer', async () => {
  const says = (local: string, remote: string, refusedPackets: () => number) => () => {
    const { status } = appPod({
      app: 'semaphore-wireguard',
      config: { name: local },
      remotes: [remoteStatus({ name: remote })],
    });
    const { remotes } = status as { remotes: readonly object[] };
    return { ...status, remotes: remotes.map((each) => ({ ...each, refusedPackets: refusedPackets() })) };
  };
  const nothing = { sourceAddress: null, latencyMs: null, bytesPerSecond: null };
  const prints = { ips: [], outcomes: [{ small: 'no byte for 5 s', full: 'not tried', ...nothing }] };
  const c1 = await startPodsCluster('127.13.7.1', { prints, agent: says('east', 'west', () => 5) });
  const isCalled = () => c1.created.some((name) => name.endsWith('-caller'));
  const c2 = await startPodsCluster('127.13.7.2', { agent: says('west', 'east', () => (isCalled() ? 21 : 3)) });
  const words = await wordsFor(c1, c2);
  const { code, stdout } = await run(...words);
  expect(code).toBe(1);
  expect(stdout.split('\n').slice(4)).toEqual([
    '✗ c1 to c2, http://127.13.7.2:8080/: no byte for 5 s',
    '! c1 to c2: meanwhile, WireGuard on the node n1 refused 18 packets: it knows no Pod of the sending node with their ' +
      'source address. If they are of these calls, something in c1 replaces the address of Pods, or c2 ' +
      "doesn't know that address (docs/wireguard.md#what-replaces-the-address-of-a-pod)",
    '',
  ]);
});

it("connects to a user's Service by its mirrored names, where there is one", async () => {
  const [here, there] = ['127.13.8.1', '127.13.8.2'] as const;
  const server = createServer().listen(0, there);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const closed = port === 1_024 ? 1_025 : 1_024;
  const mirrors = (own: string, remote: string) => {
    const { status, ...pod } = appPod({
      app: 'semaphore-service-mirror',
      config: { name: own, mirrorNamespace: 'sys-semaphore' },
      remotes: [remoteStatus({ name: remote, config: { servicePrefix: remote } })],
    });
    const { namespace, name, app } = pod;
    const spec = { nodeName: 'n1', containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] };
    return {
      '/api/v1/pods?app in (semaphore-policy,semaphore-service-mirror,semaphore-wireguard)': {
        apiVersion: 'v1',
        kind: 'PodList',
        metadata: { resourceVersion: '1' },
        items: [{ metadata: { namespace, name, labels: { app } }, spec, status: {} }],
      },
      [`/api/v1/namespaces/${namespace}/pods/${name}:8080/proxy/status`]: status,
    };
  };
  const ports = [port, closed].map((each) => ({ name: `p${each}`, port: each, protocol: 'TCP', targetPort: 8080 }));
  const web = {
    '/api/v1/namespaces/shop/services/web': {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { clusterIP: '10.96.0.1', ports: [...ports, { name: 'dns', port: 53, protocol: 'UDP' }] },
    },
  };
  const name = 'web.shop.svc.cluster.c2';
  const c1 = await startPodsCluster(here, { objects: mirrors('c1', 'c2'), names: { [name]: there } });
  const c2 = await startPodsCluster(there, { objects: { ...mirrors('c2', 'c1'), ...web } });
  const words = await wordsFor(c1, c2);
  const { code, stdout, stderr } = afterContexts(await run(...words, '--service', 'shop/web'));
  const rows = stdout
    .replaceAll(/[\d.]+ ms/g, '9 ms')
    .replaceAll(/ +/g, ' ')
    .split('\n');
  expect([code, stderr, rows]).toEqual([
    1,
    '',
    [
      'FROM TO BY SMALL FULL SOURCE LATENCY THROUGHPUT',
      `c1 c2 port ${port} ✓ - - 9 ms -`,
      `c1 c2 port ${closed} ✗ - - - -`,
      '',
      `✗ c1 to c2, tcp://${name}:${closed}: refused (semaphore explain --probe finds the hop)`,
      '',
    ],
  ]);
  expect([c1, c2].map(({ created, pods }) => [created.length, pods.size])).toEqual([
    [1, 0],
    [0, 0],
  ]);
  const missing = afterContexts(await run(...words, '--service', 'shop/cart'));
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringMatching(/semaphore: no cluster has the Service shop\/cart: correct --service\n$/),
  ]);
});

it.each(['web', 'shop/web/80', 'shop/web:80'])('ends with 2 for --service %s', async (service) => {
  const words = await wordsFor({ url: 'https://127.0.0.1:1' }, { url: 'https://127.0.0.1:1' });
  const stderr = `semaphore: --service "${service}" is not a Service: use namespace/name\n`;
  expect(await run(...words, '--service', service)).toEqual({ code: 2, stdout: '', stderr });
});

it('removes its Pods when it is interrupted', async () => {
  const [c1, c2] = [await startPodsCluster('127.13.2.1'), await startPodsCluster('127.13.2.2', { phase: 'Pending' })];
  const test = start(...(await wordsFor(c1, c2)));
  await eventually(() => c1.pods.size > 0 && c2.pods.size > 0, true);
  expect(await test.stop('SIGINT')).toMatchObject({ code: 130 });
  expect([c1.pods.size, c2.pods.size]).toEqual([0, 0]);
});

it('ends with 2 for a single cluster', async () => {
  const c1 = await startPodsCluster('127.13.3.1');
  const kubeconfig = await kubeconfigOf({ c1: c1.url }, 'c1');
  const stderr = 'semaphore: a test needs two clusters: use --context twice or more\n';
  expect(await run('test', '--kubeconfig', kubeconfig)).toEqual({ code: 2, stdout: '', stderr });
});
