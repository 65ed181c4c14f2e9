import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { forward, type NetworkNode, startNetwork } from '@kube-semaphore/testnet';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ClusterReference } from '../../src/index.ts';
import { ApiServer } from '../api-server.ts';
import { getArguments, kubectl } from '../kubectl.ts';
import { startConnectProxy, startSocksProxy } from '../proxies.ts';
import { temporaryFolder, writeConfig } from '../world.ts';

const client = fileURLToPath(new URL('./client.ts', import.meta.url));
const HOST = 'far.example';

/** Addresses that nothing answers: packets leave for a machine that isn't there. */
const DEAD = { v4: '172.31.0.3', v6: 'fd31::63' } as const;
/** Addresses to which there is no route. */
const NO_ROUTE = { v4: '203.0.113.9', v6: '2001:db8::9' } as const;

/**
 * Makes each connection take over a second: its first packet is lost, and TCP sends it again after a second. Node.js gives
 * an address 250 ms. Unlike `netem`, it needs no module of the kernel.
 */
const SLOW = `
table ip far {
  set seen { type ipv4_addr . inet_service; flags dynamic,timeout; timeout 60s; }
  chain input { type filter hook input priority 0;
    tcp flags & (syn | ack) == syn ip saddr . tcp sport @seen accept
    tcp flags & (syn | ack) == syn add @seen { ip saddr . tcp sport } drop
  }
}`;

const authority = await createAuthority();
const certificate = await authority.issue({ usage: 'server', commonName: 'far', dnsNames: [HOST] });

let near: NetworkNode;
let farAddress: string;
let dir: string;
/** A kubeconfig for each way to the server, and a CA at a URL there. */
let ways: Readonly<Record<'direct' | 'http' | 'https' | 'socks5', string>>;
let caUrl: string;
let port: number;

beforeEach(async () => {
  const network = await startNetwork(['near', 'far']);
  onTestFinished(() => network.stop());
  near = network.node('near');
  const far = network.node('far');
  farAddress = far.ipv4;
  await far.run('nft', ['-f', '-'], { input: SLOW });
  await near.run('ip', ['neigh', 'add', DEAD.v4, 'lladdr', '02:00:00:00:00:63', 'dev', 'eth0']);
  await near.run('ip', ['neigh', 'add', DEAD.v6, 'lladdr', '02:00:00:00:00:63', 'dev', 'eth0']);

  dir = await temporaryFolder();
  const api = await ApiServer.start(certificate);
  onTestFinished(() => api[Symbol.asyncDispose]());
  ({ port } = api);
  const web = createHttpServer((_request, response) => response.end(authority.caPem)).listen(0, '127.0.0.1');
  await once(web, 'listening');
  onTestFinished(() => void web.close());
  const proxies = {
    http: await startConnectProxy({ leadsTo: port }),
    https: await startConnectProxy({ leadsTo: port }, certificate),
    socks5: await startSocksProxy({ leadsTo: port }),
  };
  const webPort = (web.address() as AddressInfo).port;
  for (const open of [port, webPort, ...Object.values(proxies).map((proxy) => proxy.port)]) {
    const server = await forward(far, open, '0.0.0.0');
    onTestFinished(() => void server.close());
  }
  caUrl = `http://${HOST}:${webPort}/ca.crt`;
  const through = (scheme: keyof typeof proxies) =>
    kubeconfigOf({ 'proxy-url': `${scheme}://${HOST}:${proxies[scheme].port}` });
  ways = {
    direct: await kubeconfigOf({}),
    http: await through('http'),
    https: await through('https'),
    socks5: await through('socks5'),
  };
});

async function kubeconfigOf(fields: object): Promise<string> {
  const ca = Buffer.from(authority.caPem).toString('base64');
  const cluster = { server: `https://${HOST}:${port}`, 'certificate-authority-data': ca, ...fields };
  return writeConfig(await temporaryFolder(), cluster, { token: 't' });
}

/** Gives the server's name these addresses, for programs of the near node. */
async function resolveTo(addresses: readonly string[]): Promise<void> {
  const hosts = join(dir, 'hosts');
  await writeFile(hosts, ['127.0.0.1 localhost', ...addresses.map((address) => `${address} ${HOST}`), ''].join('\n'));
  await near.run('mount', ['--bind', hosts, '/etc/hosts']);
}

async function outcomeOf(child: ChildProcess): Promise<string> {
  const [output, words, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  if (code !== 0) return `not reached: ${words.trim()}`;
  return output.startsWith('not reached') ? output.trim() : 'reached';
}

const pipes: SpawnOptions = { stdio: ['ignore', 'pipe', 'pipe'] };

const startKubectl = (kubeconfig: string, path?: string) => near.spawn(kubectl, getArguments(kubeconfig, path), pipes);

const startOurs = (reference: ClusterReference, path = '/') =>
  near.spawn(process.execPath, [client, JSON.stringify(reference), path], pipes);

const byKubeconfig = (path: string): ClusterReference => ({ kind: 'kubeconfig', path });

describe.each([
  { name: 'a dead second address', addresses: (far: string) => [far, DEAD.v4] },
  { name: 'a second address without a route', addresses: (far: string) => [far, NO_ROUTE.v4] },
  { name: 'a dead IPv6 address', addresses: (far: string) => [far, DEAD.v6] },
  { name: 'an IPv6 address without a route', addresses: (far: string) => [far, NO_ROUTE.v6] },
  { name: 'a dead first address', addresses: (far: string) => [DEAD.v4, far] },
])('a far server whose name has $name', ({ addresses }) => {
  it.each(['direct', 'http', 'https', 'socks5'] as const)('is reached as by kubectl: %s', async (way) => {
    await resolveTo(addresses(farAddress));
    const kubeconfig = ways[way];
    const [theirs, ours] = await Promise.all([
      outcomeOf(startKubectl(kubeconfig)),
      outcomeOf(startOurs(byKubeconfig(kubeconfig))),
    ]);
    expect({ theirs, ours }).toEqual({ theirs: 'reached', ours: 'reached' });
  });

  it('is reached with a CA from there', async () => {
    await resolveTo(addresses(farAddress));
    const apiUrl = `https://${HOST}:${port}`;
    const reference = { kind: 'api-server', apiUrl, caUrl, token: { value: 't' } } as const;
    expect(await outcomeOf(startOurs(reference))).toBe('reached');
  });
});

it('a server of which all addresses are dead is given up by the same timeout, with one error that names them', async () => {
  await resolveTo([DEAD.v4, DEAD.v6]);
  const [theirs, ours] = await Promise.all([
    outcomeOf(startKubectl(ways.direct)),
    outcomeOf(startOurs(byKubeconfig(ways.direct))),
  ]);
  expect(theirs).toMatch(/^not reached: .*i\/o timeout/s);
  expect(ours).toContain(`no address of ${HOST}:${port} can be reached: `);
  for (const address of Object.values(DEAD)) expect(ours).toContain(`${address} (ETIMEDOUT)`);
});

it('an idle connection is kept alive after as long as by kubectl', async () => {
  await resolveTo([farAddress]);
  startKubectl(ways.direct, '/watch');
  startOurs(byKubeconfig(ways.direct), '/watch');
  /** The seconds until TCP checks each connection to the server. */
  const timers = async () => {
    const sockets = await near.run('ss', ['-Htno', 'state', 'established', 'dport', '=', `:${port}`]);
    return [...sockets.matchAll(/timer:\(keepalive,(\d+)sec/g)].map(([, seconds]) => Number(seconds));
  };
  await eventually(async () => (await timers()).length, 2);
  for (const seconds of await timers()) expect(seconds).toBeLessThanOrEqual(30);
});
