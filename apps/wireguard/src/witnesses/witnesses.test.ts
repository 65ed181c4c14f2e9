import { Witnesses as WitnessesOfNodes } from '@kube-semaphore/naming';
import { createMetrics } from '@kube-semaphore/runtime';
import { expect, it } from 'vitest';
import { key, observedPeer, remoteSettings, silentLog } from '../../test/support/builders.ts';
import { FakeTools } from '../../test/support/fake-tools.ts';
import { metrics as table } from '../metrics/metrics.ts';
import type { AnnotationPatch } from '../own-node/desired/own-node.ts';
import type { KnownNode } from '../own-node/local-node.ts';
import { Witnesses } from './witnesses.ts';

const KEY = 'c2.wireguard.semaphore.uw.io/silent';
const { signal } = new AbortController();

/** The agent of n1 in a cluster of these nodes, with the peers m1, m2, …, and a clock that `look` moves on. */
function agentOf({ agents = ['n1'] as readonly string[] | null, peers = 3, afterMs = 75_000, present = '' } = {}) {
  const tools = new FakeTools();
  const numbers = Array.from({ length: peers }, (_, i) => i + 1);
  const state = numbers.map(() => ({ receivedBytes: 0, sentBytes: 0, latestHandshakeSeconds: 100 }));
  const [writes, asked]: [AnnotationPatch[], string[]] = [[], []];
  const node: { annotations: Readonly<Record<string, string>> } = {
    annotations: present === '' ? {} : { [KEY]: present },
  };
  const desired = numbers.map((i) => ({
    node: `m${i}`,
    publicKey: key(i),
    endpoint: undefined,
    allowedIps: [`10.4.${i}.0/24`],
  }));
  let nowMs = 0;
  const { metrics } = createMetrics(table, { remote: ['c2'], cluster: ['c2'], device: ['wireguard.c2'] });
  const witnesses = new Witnesses({
    agents: {
      witnesses: () => (agents === null ? undefined : new WitnessesOfNodes(agents)),
      run: () => Promise.resolve(),
    },
    tools,
    local: {
      get node() {
        return node as KnownNode;
      },
      annotate: (patch) => {
        writes.push(patch);
        const { [KEY]: value } = patch;
        node.annotations = typeof value === 'string' ? { [KEY]: value } : {};
        return Promise.resolve();
      },
    },
    options: { nodeName: 'n1' },
    remotes: () => [
      {
        settings: remoteSettings({ deviceAddress: 'auto', reportSilentAfterMs: afterMs }),
        peers: () => ({ peers: desired, skipped: [] }),
      },
    ],
    metrics,
    log: silentLog,
    ask: (addresses) => {
      asked.push(...addresses);
      return Promise.resolve();
    },
    nowMs: () => nowMs,
  });
  return {
    writes,
    asked,
    /** Looks every five seconds. Those in `alive` answer, the first is 1. */
    async look(seconds: number, alive: readonly number[]): Promise<void> {
      for (const until = nowMs + seconds * 1_000; nowMs < until; nowMs += 5_000) {
        for (const [i, each] of state.entries()) {
          each.sentBytes += 32;
          if (!alive.includes(i + 1)) continue;
          each.receivedBytes += 32;
          each.latestHandshakeSeconds = 100 + nowMs;
        }
        tools.put('wireguard.c2', {
          peers: state.map((each, i) => observedPeer(key(i + 1), { ...each, allowedIps: [`10.4.${i + 1}.0/24`] })),
        });
        await witnesses.reconcile('c2', { signal });
      }
    },
  };
}

it('reports a silent node once, and takes it back when it answers', async () => {
  const agent = agentOf();
  await agent.look(60, [1, 2, 3]);
  await agent.look(200, [1, 3]);
  expect(agent.writes).toEqual([{ [KEY]: 'm2 of 3' }]);
  await agent.look(60, [1, 2, 3]);
  expect(agent.writes).toEqual([{ [KEY]: 'm2 of 3' }, { [KEY]: null }]);
});

it('asks quiet nodes only, three times', async () => {
  const agent = agentOf();
  await agent.look(5, [1, 2, 3]);
  await agent.look(75, [1, 3]);
  expect(agent.asked).toEqual(['10.4.2.0', '10.4.2.0', '10.4.2.0']);
});

it('says nothing of nodes that it does not watch', async () => {
  const agents = Array.from({ length: 1_000 }, (_, i) => `other${i}`);
  const agent = agentOf({ agents: [...agents, 'n1'] });
  await agent.look(300, []);
  expect([agent.writes, agent.asked]).toEqual([[], []]);
});

it('leaves its report while it does not know the other agents', async () => {
  const agent = agentOf({ agents: null, present: 'm9 of 3' });
  await agent.look(300, []);
  expect(agent.writes).toEqual([]);
});

it('removes its report if that is not wanted any more', async () => {
  const agent = agentOf({ afterMs: 0, present: 'm1 of 3' });
  await agent.look(60, []);
  expect(agent.writes).toEqual([{ [KEY]: null }]);
});

it('leaves the report of the agent before it until it knows better, and then says what it knows', async () => {
  const agent = agentOf({ peers: 5, present: 'm1,m2,m9 of 3' });
  await agent.look(10, [3, 4, 5]);
  expect(agent.writes, 'one that is no peer').toEqual([{ [KEY]: 'm1,m2 of 5' }]);
  await agent.look(60, [1, 3, 4, 5]);
  expect(agent.writes.slice(1), 'one that answers').toEqual([{ [KEY]: 'm2 of 5' }]);
  await agent.look(60, [1, 3, 4, 5]);
  expect(agent.writes, 'one that has been silent for as long as it takes').toHaveLength(2);
  await agent.look(60, [1, 2, 3, 4, 5]);
  expect(agent.writes.slice(2)).toEqual([{ [KEY]: null }]);
});

it('writes once in ten seconds, and then all that is new', async () => {
  const agent = agentOf({ peers: 8 });
  const writtenAt: number[] = [];
  for (let i = 0; i < 40; i++) {
    const before = agent.writes.length;
    await agent.look(5, i < 5 ? [2, 3, 4, 5, 6, 7, 8] : i < 6 ? [3, 4, 5, 6, 7, 8] : [4, 5, 6, 7, 8]);
    if (agent.writes.length > before) writtenAt.push(i * 5);
  }
  // The third one is silent at 100 s.
  expect(writtenAt).toEqual([75, 95, 105]);
});
