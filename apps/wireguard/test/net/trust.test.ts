import { eventually } from '@kube-semaphore/eventually';
import { startPing } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import type { Agent } from '../support/agent-process.ts';
import { itWithAgents } from '../support/mesh-it.ts';
import {
  addShamNode,
  annotate,
  announceAs,
  blocksOn,
  deleteNode,
  publicKeyOn,
  type ShamNode,
} from '../support/mesh-nodes.ts';

const DEVICE = 'wireguard.c2';
const LONG = 200_000;

const it = itWithAgents.extend('shape', { scope: 'file' }, () => ({ c1: 1, c2: 2 }));

/** What a Node could claim. */
type Prey = { readonly key: string; readonly ourKey: string; readonly ourIp: string };

type ClaimCase = { readonly what: string; readonly claims: Partial<ShamNode>; readonly reason: string };

const cases = ({ key, ourKey, ourIp }: Prey): readonly ClaimCase[] => [
  { what: 'the CIDR of another', claims: { podCIDRs: ['10.2.1.0/24', 'fd00:2:0:1::/64'] }, reason: 'cidr-taken' },
  { what: 'a part of it', claims: { podCIDRs: ['10.2.1.8/29'] }, reason: 'cidr-taken' },
  { what: 'the whole pod subnet', claims: { podCIDRs: ['10.2.0.0/16'] }, reason: 'cidr-taken' },
  { what: 'a CIDR of our own cluster', claims: { podCIDRs: ['10.1.1.0/24'] }, reason: 'outside-pod-subnet' },
  { what: 'everything', claims: { podCIDRs: ['0.0.0.0/0', '::/0'] }, reason: 'outside-pod-subnet' },
  { what: 'the key of another', claims: { publicKey: key }, reason: 'key-taken' },
  { what: 'our key', claims: { publicKey: ourKey }, reason: 'own-key' },
  { what: 'a key that is not valid', claims: { publicKey: `${key.slice(0, -2)}!=` }, reason: 'bad-key' },
  { what: 'a key of 200 kB', claims: { publicKey: 'A'.repeat(LONG) }, reason: 'bad-key' },
  { what: 'a host name', claims: { endpoint: 'node.example.org:51820' }, reason: 'bad-endpoint' },
  { what: 'port 70000', claims: { endpoint: '198.51.100.1:70000' }, reason: 'bad-endpoint' },
  { what: 'an endpoint of 200 kB', claims: { endpoint: `${'a'.repeat(LONG)}:51820` }, reason: 'bad-endpoint' },
  { what: 'to be where we are', claims: { endpoint: `${ourIp}:51820` }, reason: 'refused-endpoint' },
  { what: 'to be in a tunnel', claims: { endpoint: '10.2.1.10:51820' }, reason: 'refused-endpoint' },
];

/** Why Nodes are skipped, by their names, from the log. */
function refusalsBy(agent: Agent): Readonly<Record<string, string>> {
  const lines = agent.log().filter(({ msg, level }) => msg === 'skipped' && level === 'warn');
  return Object.fromEntries(lines.map(({ subject, reason }) => [String(subject).split(' ')[1], String(reason)]));
}

const problems = async (agent: Agent, reason: string) =>
  agent.metric('semaphore_wg_skipped_objects', { remote: 'c2', kind: 'problem', reason });

it('refuses what a remote Node may not claim, and others lose nothing', async ({ mesh }) => {
  const [near, far, other] = mesh.nodes;
  const c2 = mesh.cluster('c2');
  const agent = mesh.agent(near!);
  const pings = await Promise.all([startPing(near!.pod, far!.podIps.v4), startPing(other!.pod, near!.podIps.v6)]);
  const blocks = [far, other].map((node) => node!.podCidrs.join(' '));
  expect(await blocksOn(near!, DEVICE)).toEqual(blocks);

  const prey = {
    key: await publicKeyOn(far!, 'wireguard.c1'),
    ourKey: await publicKeyOn(near!, DEVICE),
    ourIp: near!.machine.ipv4,
  };
  const shams = cases(prey).map(({ what, claims, reason }, i) => ({
    reason,
    node: { podCIDRs: [`10.2.${100 + i}.0/24`], ...claims, name: what.replaceAll(' ', '-').toLowerCase() },
  }));
  for (const { node } of shams) await addShamNode(c2, node);
  await annotate(c2, other!.name, { 'example.org/notes': 'x'.repeat(LONG) });
  await eventually(() => refusalsBy(agent), Object.fromEntries(shams.map(({ node, reason }) => [node.name, reason])));
  for (const [reason, { length }] of Map.groupBy(shams, (sham) => sham.reason))
    expect([reason, await problems(agent, reason)]).toEqual([reason, length]);
  expect(agent.log().filter((line) => JSON.stringify(line).length > 1_000)).toEqual([]);

  // Later Nodes become peers as before.
  await addShamNode(c2, { name: 'honest', podCIDRs: ['10.2.200.0/24'] });
  await eventually(() => blocksOn(near!, DEVICE), [...blocks, '10.2.200.0/24']);
  for (const { node } of shams) await deleteNode(c2, node.name);
  await deleteNode(c2, 'honest');
  await eventually(() => blocksOn(near!, DEVICE), blocks);
  for (const { reason } of shams) await eventually(() => problems(agent, reason), 0);
  for (const ping of pings) expect(await ping.stop()).toMatchObject({ lost: 0 });
});

it('takes nothing from a peer whose key another announces, which becomes a peer again with its own key', async ({
  mesh,
}) => {
  const [near, far, other] = mesh.nodes;
  const ping = await startPing(near!.pod, far!.podIps.v4);
  await mesh.agent(other!).stop();
  await announceAs(mesh.cluster('c2'), other!.name, {
    publicKey: await publicKeyOn(far!, 'wireguard.c1'),
    endpoint: '198.51.100.1:51820',
  });
  await mesh.agent(near!).logged('skipped', { subject: `peer ${other!.name}`, reason: 'key-taken' });
  await eventually(() => blocksOn(near!, DEVICE), [far!.podCidrs.join(' ')]);

  await mesh.startAgent(other!);
  const back = await startPing(near!.pod, other!.podIps.v6);
  expect(await back.stop()).toMatchObject({ lost: 0 });
  expect(await ping.stop()).toMatchObject({ lost: 0 });
});
