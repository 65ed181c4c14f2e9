// Real: the audit log says which rights were used.
import { eventually } from '@kube-semaphore/eventually';
import { deployedRights, ipamCrds, type RealCluster, rightsIn, startRealCluster, useOf } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect } from 'vitest';
import { createAccounts, folders } from '../support/accounts.ts';
import { it as itOnClusters } from '../support/it.ts';

/**
 * A test with one real API server in place of both, whose audit log tells the accounts of both sides apart. It has to be
 * listed, as all have that can't stream a list (WatchList); of those that can, most needs to be watched only.
 */
const it = itOnClusters
  .extend('server', { scope: 'file' }, async ({ names }, { onCleanup }): Promise<RealCluster> => {
    const server = await startRealCluster({
      name: names.local,
      audit: true,
      apiserverFlags: { 'feature-gates': 'WatchList=false' },
    });
    onCleanup(() => server.stop());
    for (const crd of ipamCrds()) await server.defineResource(crd);
    return server;
  })
  .extend('clusters', { scope: 'file' }, ({ server }) => ({ local: server, remote: server }))
  .extend('accounts', { scope: 'file' }, async ({ server }) => {
    const accounts = await createAccounts(server);
    return { local: accounts, remote: accounts };
  })
  /** The rights of both sides, and which were used so far. */
  .extend('rights', ({ server }) => {
    const sides = [deployedRights(...folders.agent), deployedRights(...folders.reader)];
    const use = async () => {
      const events = await server.auditLog();
      return sides.map((rights) => useOf(events, rights));
    };
    return { given: sides.map(({ grants }) => rightsIn(grants)), use };
  })
  /** Uses an agent and all subcommands. */
  .extend('exercise', ({ server, rights, addNode, bareNode, spawn, run }) => async () => {
    const key = generatePrivateKey();
    const remote = { allowedIPsFrom: 'calico-blocks' };
    await addNode(server, { name: 'n1', podCIDRs: ['10.2.1.0/24'], internalIPs: ['192.0.2.1'] });
    await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
    const agent = await spawn({ remote });
    await agent.ready();
    const announced = async () =>
      (await server.admin.get('/api/v1/nodes/n1')).metadata.annotations?.['c2.wireguard.semaphore.uw.io/pubKey'];
    await eventually(announced, publicKeyOf(key));
    // It is ready before it watches.
    const watches = (some: readonly string[]) => some.filter((right) => right.startsWith('watch '));
    await eventually(async () => (await rights.use()).map(({ needed }) => watches(needed)), rights.given.map(watches));
    const complaints = agent.log().filter(({ level }) => level === 'warn' || level === 'error');
    // Both sides are one API server, so that is the only warning.
    expect(complaints.map(({ msg }) => msg)).toEqual([expect.stringContaining(' leads to the same API server as ')]);
    await agent.stop();
    for (const word of ['plan', 'status']) expect(await run({ word, remote })).toMatchObject({ code: 0 });
    expect(await run({ word: 'cleanup', flags: { yes: 'true' } })).toMatchObject({ code: 0 });
    await eventually(announced, undefined);
  });

describe('the accounts of deploy/wireguard', () => {
  it('need each of their rights, and no other', async ({ rights, exercise }) => {
    await exercise();
    await eventually(
      rights.use,
      rights.given.map((needed) => ({ needed, refused: [] })),
    );
  });
});
