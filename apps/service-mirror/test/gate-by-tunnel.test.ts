import { eventually } from '@kube-semaphore/eventually';
import { node } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { localRules } from './support/accounts.ts';
import { addAll, addresses, GLOBAL, itWithRoles, slice } from './support/roles.ts';

const MIRROR = 'c2-default-73736d-app';
const AGENTS = ['w1', 'w2', 'w3'];
const gating = { ofSecond: { gateByTunnel: true }, flags: ['-min-write-interval=0'] };

const it = itWithRoles
  /** Sets what each agent says of the remote; null: nothing. The Nodes announce themselves to it. */
  .extend('report', async ({ local: { admin } }, { onCleanup }) => {
    for (const name of AGENTS)
      await admin.create(
        '/api/v1/nodes',
        node({ name, annotations: { 'c2-a.wireguard.semaphore.uw.io/pubKey': 'key' } }),
      );
    onCleanup(async () => {
      for (const name of AGENTS) await admin.delete(`/api/v1/nodes/${name}`);
    });
    return async (...reports: readonly (string | null)[]): Promise<void> => {
      for (const [i, report] of reports.entries()) {
        const annotations = { 'c2-a.wireguard.semaphore.uw.io/silent': report };
        const { status } = await admin.request('PATCH', `/api/v1/nodes/${AGENTS[i]}`, { metadata: { annotations } });
        expect(status).toBe(200);
      }
    };
  })
  .extend('all', ({ localSources, sources, secondSources }) => ({ localSources, sources, secondSources }))
  /** A global Service of all clusters, whose endpoint in c2-a is on the node m1. */
  .extend('global', async ({ all }) => {
    await addAll(all, {});
    await all.secondSources.patch('endpointslices', { name: 'web-a' }, { endpoints: onNodes('m1') });
  })
  .extend('conditionsOf', ({ mirrors }) => async (service: string) => {
    const slices = await mirrors.slices(service);
    return slices.flatMap((slice) => {
      const { endpoints } = slice as unknown as { endpoints: readonly WrittenEndpoint[] };
      return endpoints.map(
        ({ addresses: [address], conditions: { ready, serving, terminating } }) =>
          `${address} ${[ready, serving, terminating].map(Number).join('')}`,
      );
    });
  });

type WrittenEndpoint = {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
};

/** An endpoint on each of these nodes. */
const onNodes = (...nodes: readonly string[]) =>
  nodes.map((nodeName, i) => ({
    addresses: [addresses['c2-a'].replace(/1$/, String(i + 1))],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName,
  }));

const usual = { c1: '110 none', c2: '110 none', 'c2-a': '110 none' };
const gated = { ...usual, 'c2-a': '011 none' };
const globals = { globalSvcLabelSelector: 'global=true', globalSvcHints: 'labelled' };

describe('an endpoint on a node whose tunnel is silent', () => {
  it('is used last in a global Service, from when two of three agents say so until one takes it back', async ({
    global: _global,
    roles,
    report,
    startWithFile,
  }) => {
    await report('m1 of 3', 'm2 of 3');
    const program = await startWithFile(globals, gating);
    await eventually(roles, usual);
    expect(await program.status()).toMatchObject({ tunnels: [{ remote: 'c2-a', silent: [], gated: true }] });
    await report('m1 of 3', 'm1,m2 of 3');
    await eventually(roles, gated);
    expect(await program.status()).toMatchObject({ tunnels: [{ remote: 'c2-a', silent: ['m1'], gated: true }] });
    const labels = { remote: 'c2-a', reason: 'node-silent', kind: 'expected' };
    await eventually(() => program.metric('semaphore_service_mirror_skipped_objects', labels), 1);
    expect(await program.metric('semaphore_service_mirror_silent_nodes', { remote: 'c2-a' })).toBe(1);
    await report(null);
    await eventually(roles, usual);
  });

  it('is not ready at a start, either', async ({ all, global: _global, mirrors, roles, report, startWithFile }) => {
    await report('m1 of 3', 'm1 of 3');
    const first = await startWithFile(globals, gating);
    await eventually(roles, gated);
    await first.stop();
    const before = await mirrors.slices(GLOBAL);
    const second = await startWithFile(globals, gating);
    // The last key of the queue, so that the others were reconciled.
    await all.sources.patch('endpointslices', { name: 'web-a' }, slice(addresses.c2, false));
    await eventually(roles, { ...gated, c2: '000 none' });
    await second.stop();
    const versionOf = (slices: typeof before) =>
      slices.find(({ metadata }) => metadata.labels?.['mirror-endpointslice-sync-name'] === 'c2-a')?.metadata
        .resourceVersion;
    expect(versionOf(await mirrors.slices(GLOBAL))).toBe(versionOf(before));
  });

  it('stays where most nodes are silent, and /status says that this is the remote', async ({
    global: _global,
    roles,
    report,
    startWithFile,
  }) => {
    await report('m1,m2 of 3', 'm1,m2 of 3');
    const program = await startWithFile(globals, gating);
    await eventually(roles, usual);
    expect(await program.status()).toMatchObject({
      tunnels: [{ remote: 'c2-a', silent: ['m1', 'm2'], gated: false }],
      remotes: [{}, { skipped: [{ reason: 'remote-silent', kind: 'problem' }] }],
    });
  });

  it('is used last in a mirror, too, but for its last one', async ({
    secondSources,
    conditionsOf,
    report,
    startWithFile,
  }) => {
    const labels = { mirror: 'true' };
    await secondSources.add({ name: 'app', labels });
    await secondSources.addSlice({ name: 'app-a', service: 'app', labels, endpoints: onNodes('m1', 'm2') });
    await report('m1 of 3', 'm1 of 3');
    await startWithFile(globals, gating);
    const name = MIRROR.replace('c2-', 'c2-a-');
    await eventually(() => conditionsOf(name), ['10.5.0.1 011', '10.5.0.2 110']);
    await secondSources.patch('endpointslices', { name: 'app-a' }, { endpoints: onNodes('m1') });
    await eventually(() => conditionsOf(name), ['10.5.0.1 110']);
  });

  it('is as any other without the wish, and without the right to read Nodes, which a diagnostic says', async ({
    global: _global,
    local,
    roles,
    report,
    startWithFile,
  }) => {
    await report('m1 of 3', 'm1 of 3');
    const unwilling = await startWithFile(globals, { flags: gating.flags });
    await eventually(roles, usual);
    expect(await unwilling.status()).toMatchObject({ tunnels: null });
    await unwilling.stop();
    const { kubeconfig } = await local.account('blind', localRules);
    const blind = await startWithFile({}, { ...gating, kubeconfig });
    const labels = { remote: 'c2-a', reason: 'tunnels-unknown', kind: 'problem' };
    await eventually(() => blind.metric('semaphore_service_mirror_skipped_objects', labels), 1);
    expect(await blind.status()).toMatchObject({ tunnels: null });
  });
});
