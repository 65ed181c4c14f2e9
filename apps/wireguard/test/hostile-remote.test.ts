import { eventually } from '@kube-semaphore/eventually';
import { harmIn, node, startHostileServer, STEERING, TOKEN } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect, onTestFinished } from 'vitest';
import { announce, ownNode, it } from './support/it.ts';

/** The entry of a remote with a hostile API server. */
async function hostile(
  how: Omit<Parameters<typeof startHostileServer>[0], 'token'>,
): Promise<{ kubeConfigPath: string }> {
  const server = await startHostileServer({ token: TOKEN, ...how });
  onTestFinished(() => server.stop());
  return { kubeConfigPath: server.kubeconfig };
}

const key = (): string => publicKeyOf(generatePrivateKey());

/** Nodes that can't be peers, each for another reason, and one that can. */
const objects = [
  node({ name: `x${STEERING}${'x'.repeat(500)}`, annotations: announce(key(), '198.51.100.1:51820') }),
  node({ name: 'a', annotations: announce(`${STEERING}${'x'.repeat(5_000)}`, `198.51.100.1:51820${STEERING}`) }),
  node({ name: TOKEN, annotations: announce(TOKEN, TOKEN) }),
  node({
    name: 'r1',
    podCIDRs: ['10.4.1.0/24', `10.4.2.0/24${STEERING}`],
    annotations: announce(key(), '198.51.100.2:51820'),
  }),
];

const refusal = (authorization: string): string =>
  `${STEERING}you sent Authorization: ${authorization} ${'x'.repeat(200_000)}`;

it.for(['json', 'pretty'])(
  'an error of a hostile remote does no harm in a log (%s)',
  async (format, { spawn, addNode, local }) => {
    await addNode(local, ownNode);
    const agent = await spawn({
      remote: await hostile({ refusal }),
      flags: { 'log-format': format, 'log-level': 'debug' },
    });
    await eventually(() => agent.stderr().split('watch failed').length > 2, true);
    expect(agent.stderr()).toContain('you sent Authorization');
    expect(harmIn(agent.stderr())).toEqual([]);
  },
);

it('an error of a hostile remote does no harm in /status', async ({ spawn, addNode, local }) => {
  await addNode(local, ownNode);
  const agent = await spawn({ remote: await hostile({ refusal }) });
  await agent.logged('watch failed');
  const { body } = await agent.get('/status');
  expect(body).toContain('you sent Authorization');
  expect(harmIn(body)).toEqual([]);
});

describe('an object of a hostile remote', () => {
  it.for(['json', 'pretty'])('does no harm in a log (%s)', async (format, { spawn, addNode, local }) => {
    await addNode(local, ownNode);
    const agent = await spawn({
      remote: await hostile({ objects }),
      flags: { 'log-format': format, 'log-level': 'debug' },
    });
    for (const reason of ['bad-name', 'bad-key']) await eventually(() => agent.stderr().includes(reason), true);
    expect(harmIn(agent.stderr())).toEqual([]);
  });

  it.for([
    { word: 'plan', flags: {} },
    { word: 'plan', flags: { o: 'json' } },
    { word: 'status', flags: {} },
    { word: 'status', flags: { o: 'json' } },
  ])('does no harm in $word $flags', async ({ word, flags }, { run, addNode, local }) => {
    await addNode(local, ownNode);
    const { code, stdout, stderr } = await run({ word, flags, remote: await hostile({ objects }) });
    expect([code, stdout]).toEqual([0, expect.stringContaining('its public key is invalid')]);
    expect(harmIn(stdout + stderr)).toEqual([]);
  });
});
