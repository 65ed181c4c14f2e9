import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually } from '@kube-semaphore/eventually';
import { afterEach, expect, it } from 'vitest';
import { expose, type Network, packetIn, startNetwork, startPing } from '../../src/index.ts';

const owner = fileURLToPath(new URL('./network-owner.ts', import.meta.url));

let network: Network | undefined;
afterEach(() => network?.stop());

const inodeOf = (pid: string | number): string | undefined => {
  try {
    return String(statSync(`/proc/${pid}/ns/net`).ino);
  } catch {
    return undefined; // gone, or going
  }
};

/** The processes that are in a network namespace. */
const processesIn = (inode: string): readonly string[] =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && inodeOf(name) === inode);

it.each([
  { family: 'IPv4', of: 'ipv4' },
  { family: 'IPv6', of: 'ipv6' },
] as const)('lets nodes reach each other over $family', async ({ of }) => {
  network = await startNetwork(['a', 'b']);
  const ping = await startPing(network.node('a'), network.node('b')[of]);
  await ping.replies(20);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});

it('routes between a pod and other nodes, in both directions', async () => {
  network = await startNetwork(['a', 'b']);
  const [a, b] = [network.node('a'), network.node('b')];
  const pod = await a.addPod(['10.4.1.2', 'fd04:1::2']);
  const other = await a.addPod(['10.4.1.3']);
  await b.run('ip', ['route', 'add', '10.4.1.0/24', 'via', a.ipv4]);
  await b.run('ip', ['route', 'add', 'fd04:1::/64', 'via', a.ipv6]);
  for (const [from, to] of [
    [pod, b.ipv4],
    [pod, b.ipv6],
    [b, '10.4.1.2'],
    [b, 'fd04:1::2'],
    [other, '10.4.1.2'],
  ] as const) {
    const ping = await startPing(from, to);
    expect(await ping.stop()).toMatchObject({ lost: 0 });
  }
});

it('counts missing replies', async () => {
  network = await startNetwork(['a', 'b', 'c']);
  const { underlay } = network;
  const [ping, other] = await Promise.all([
    startPing(network.node('a'), network.node('b').ipv4),
    startPing(network.node('a'), network.node('c').ipv4),
  ]);
  await underlay.run('ip', ['link', 'set', 'dev', 'b', 'down']);
  await ping.requests(20);
  await underlay.run('ip', ['link', 'set', 'dev', 'b', 'up']);
  await ping.replies(10);
  const { lost } = await ping.stop();
  expect(lost).toBeGreaterThan(10);
  expect(await other.stop()).toMatchObject({ lost: 0 });
});

it('counts missing replies at the end', async () => {
  network = await startNetwork(['a', 'b']);
  const ping = await startPing(network.node('a'), network.node('b').ipv4);
  await network.node('b').stop();
  await ping.requests(30);
  const { lost } = await ping.stop();
  // A reply that is read later, to a request of before, counts.
  expect(lost).toBeGreaterThan(20);
});

it('lets a node return under its name', async () => {
  network = await startNetwork(['a', 'b']);
  await network.node('b').stop();
  const b = await network.addNode('b');
  expect(network.node('b')).toBe(b);
  const ping = await startPing(network.node('a'), b.ipv4);
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});

it('records the frames of one link only', async () => {
  network = await startNetwork(['a', 'b', 'c']);
  const [one, none] = [await network.node('a').capture(), await network.node('c').capture()];
  const ping = await startPing(network.node('a'), network.node('b').ipv4, { pattern: 'c1ea47ef' });
  await ping.replies(5);
  await ping.stop();
  const cleartext = Buffer.from('c1ea47efc1ea47ef', 'hex');
  const frames = (await one.stop()).filter((frame) => frame.includes(cleartext));
  expect(frames.length).toBeGreaterThan(10);
  expect(packetIn(frames[0] ?? Buffer.alloc(0))).toMatchObject({ family: 4, protocol: 1 });
  expect((await none.stop()).filter((frame) => frame.includes(cleartext))).toEqual([]);
});

it('reports the error of a capture', async () => {
  network = await startNetwork(['a']);
  const node = network.node('a');
  await network.underlay.run('ip', ['link', 'delete', 'dev', 'a']);
  await expect(node.capture()).rejects.toThrow(/tcpdump: .*No such device/);
});

it('leads from a node to a port out here', async () => {
  network = await startNetwork(['a']);
  const server = createServer((socket) => socket.end('from outside\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await network.node('a').forward(port);
  const script = `require('node:net').connect(${port}, '127.0.0.1').pipe(process.stdout)`;
  expect(await network.node('a').run(process.execPath, ['-e', script])).toBe('from outside\n');
  server.close();
});

it('leads from a port out here to a server that starts on a node later, and is refused when that is gone', async () => {
  network = await startNetwork(['a']);
  const node = network.node('a');
  const port = await expose(node, 8080);
  const listen = `require('node:net').createServer((socket) => socket.end('from inside')).listen(8080, '127.0.0.1')`;
  node.spawn(process.execPath, ['-e', listen], { stdio: 'ignore' });
  const answer = () => text(connect(port, '127.0.0.1')).catch((error: NodeJS.ErrnoException) => error.code);
  await eventually(answer, 'from inside');
  await node.stop();
  await eventually(answer, 'ECONNREFUSED');
});

it('gives each node its own /run/wireguard, and this machine none', async () => {
  network = await startNetwork(['a', 'b']);
  await network.node('a').run('touch', ['/run/wireguard/wg0.sock']);
  expect(await network.node('b').run('ls', ['/run/wireguard'])).toBe('');
  expect(await network.node('a').run('ls', ['/run/wireguard'])).toBe('wg0.sock\n');
});

it('rejects with the stderr of a program that fails, and kills one that takes too long', async () => {
  network = await startNetwork(['a']);
  const node = network.node('a');
  await expect(node.run('sh', ['-c', 'echo why >&2; exit 3'])).rejects.toThrow('exit code 3: why');
  await expect(node.run('sleep', ['1000'], { timeoutMs: 200 })).rejects.toThrow('SIGKILL');
});

it('kills all its processes when it is stopped, even those in other sessions', async () => {
  network = await startNetwork(['a']);
  const node = network.node('a');
  const inode = (await node.run('stat', ['-L', '-c', '%i', '/proc/self/ns/net'])).trim();
  const sleeper = node.spawn('setsid', ['sleep', '1000'], { stdio: 'ignore' });
  await eventually(() => inodeOf(Number(sleeper.pid)) === inode, true);
  await network.stop();
  expect(processesIn(inode)).toEqual([]);
  await network.stop();
});

it.each([
  { name: 'is killed', signal: 'SIGKILL', group: false },
  { name: 'is killed together with its process group', signal: 'SIGKILL', group: true },
  { name: 'gets a Ctrl-C together with its process group', signal: 'SIGINT', group: true },
] as const)('leaves nothing when the owning process $name', async ({ signal, group }) => {
  const child = fork(owner, { execPath: process.execPath, execArgv: [], detached: group });
  const [{ pid, inode }] = (await once(child, 'message')) as [{ pid: number; inode: string }];
  expect(processesIn(inode)).toContain(String(pid));
  process.kill(group ? -Number(child.pid) : Number(child.pid), signal);
  await eventually(() => processesIn(inode), []);
});
