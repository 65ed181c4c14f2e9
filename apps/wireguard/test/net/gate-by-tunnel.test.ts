import { eventually } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';
import { expect, onTestFinished } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';
import { addService, clusterIpsOf, LOCAL_NAMES, startMirror } from '../support/mirrored-mesh.ts';

const SILENT = 'c2.wireguard.semaphore.uw.io/silent';

/** The shortest that can be set. */
const AFTER_MS = 20_000;

/** In five seconds, if each has an answer. */
const CALLS = 50;

const it = itWithAgents
  .extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }))
  .extend('realServers', { scope: 'file' }, () => ['c1'])
  .extend('agentOptions', { scope: 'file' }, () => ({
    remotes: {
      c1: { deviceAddress: 'auto' },
      c2: { deviceAddress: 'auto', reportSilentAfter: `${AFTER_MS / 1_000}s` },
    },
  }));

type Call = { readonly startedMs: number; readonly answer: string };

/**
 * Calls port 80 of an address each 100 ms, on a new connection from a port that none had before: the kernel sends what comes from
 * a known port to the endpoint that it chose for it, for two minutes after a call that no one answered.
 *
 * @returns the calls that have ended so far; without an answer in three seconds, it is empty
 */
function callAgainAndAgain(place: Place, host: string): readonly Call[] {
  const script = `const { connect } = require('node:net');
    let localPort = 20_000;
    setInterval(() => {
      const startedMs = Date.now();
      let answer = '';
      const socket = connect({ host: process.argv[1], port: 80, localPort: localPort++ });
      const timer = setTimeout(() => socket.destroy(), 3_000);
      socket.on('error', () => {}).on('data', (text) => (answer += text)).on('close', () => {
        clearTimeout(timer);
        console.log(JSON.stringify({ startedMs, answer }));
      });
    }, 100);`;
  const caller = place.spawn(process.execPath, ['-e', script, host], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void caller.kill());
  const calls: Call[] = [];
  let text = '';
  caller.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop()!;
    calls.push(...lines.map((line) => JSON.parse(line) as Call));
  });
  return calls;
}

const answersIn = (calls: readonly Call[]) => [...new Set(calls.map(({ answer }) => answer))].toSorted();

it('sends no new call to a node whose tunnel is dead, until it is back', async ({ mesh }) => {
  const [own, dead] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  const { server } = own.cluster;
  await addService(mesh.cluster('c2').nodes, { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] });
  await startMirror(mesh, own, { gateByTunnel: true });
  const addresses = (await Promise.all(LOCAL_NAMES.map((name) => clusterIpsOf(server, name)))).flat();
  expect(addresses).toHaveLength(4);
  const all = addresses.map((host) => callAgainAndAgain(own.pod, host));
  /** Waits until all of the last calls of each address have such answers. */
  const answered = (...names: readonly string[]) =>
    eventually(
      () => all.map((calls) => answersIn(calls.slice(-CALLS))),
      all.map(() => names),
    );
  await answered('c2-n1', 'c2-n2');

  // Its API server, its pod and its agent are as before.
  const drops = ['input', 'output'].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority 0; meta l4proto udp drop; }`,
  );
  const deadMs = Date.now();
  await dead.machine.run('nft', ['-f', '-'], { input: `table inet dead {\n${drops.join('\n')}\n}\n` });
  await answered('c2-n2');
  // Before that, calls to it get no answer.
  for (const calls of all)
    expect(calls.filter(({ startedMs, answer }) => startedMs >= deadMs && answer === '').length).toBeGreaterThan(20);
  const report = async () => (await server.admin.get('/api/v1/nodes/n1')).metadata.annotations?.[SILENT];
  expect(await report()).toBe('n1 of 2');

  await dead.machine.run('nft', ['delete', 'table', 'inet', 'dead']);
  await answered('c2-n1', 'c2-n2');
  expect(await report()).toBeUndefined();
});
