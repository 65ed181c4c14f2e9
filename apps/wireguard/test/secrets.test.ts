import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect } from 'vitest';
import { announce, ownNode, it } from './support/it.ts';

describe('a private key', () => {
  it('is on no command line, and in no output of the agent', async ({
    local,
    remote,
    addNode,
    bareNode,
    keyFolder,
    spawn,
    run,
  }) => {
    // The device has another key than the file, so the agent reads both.
    const [key, other] = [generatePrivateKey(), generatePrivateKey()];
    const file = join(keyFolder, 'wireguard.c2.key');
    await writeFile(file, `${key.reveal()}\n`, { mode: 0o600 });
    await bareNode.show({ remote: 'c2', privateKey: other.reveal(), publicKey: publicKeyOf(other) });
    await addNode(local, ownNode);
    const annotations = announce(publicKeyOf(generatePrivateKey()), '198.51.100.1:51820');
    await addNode(remote, { name: 'r1', podCIDRs: ['10.4.1.0/24'], annotations });
    const agent = await spawn({ flags: { 'log-level': 'trace', 'observe-period': '1s' } });
    await agent.ready();
    await agent.logged('device changed', { cluster: 'c2', peersSet: 1 });
    const { body: metrics } = await agent.get('/metrics');
    await writeFile(file, `${key.reveal()}${key.reveal()}`, { mode: 0o600 });
    await eventually(
      () => agent.log().some(({ error }) => JSON.stringify(error ?? '').includes('has no valid private key')),
      true,
    );
    await agent.stop();
    await writeFile(file, key.reveal());
    const [plan, status] = [await run({ word: 'plan' }), await run({ word: 'status' })];

    const calls = (await bareNode.calls()).join('\n');
    expect(calls).toContain(`wg set wireguard.c2 private-key ${file}`);
    expect(metrics).toContain(publicKeyOf(other));
    expect(plan.stdout).toContain(publicKeyOf(key));
    const said = [
      calls,
      agent.stderr(),
      agent.stdout(),
      metrics,
      plan.stdout,
      plan.stderr,
      status.stdout,
      status.stderr,
    ].join('\n');
    for (const secret of [key, other]) expect(said).not.toContain(secret.reveal().slice(0, 12));
  });
});
