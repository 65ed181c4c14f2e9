// Real: the audit log says which rights were used.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import {
  type AuditEvent,
  clusterPropertiesPath,
  clusterProperty,
  clusterPropertyCrd,
  deployComponent,
  deployedCrds,
  deployedRights,
  node,
  type RealCluster,
  rightsIn,
  shortLease,
  startRealCluster,
  useOf,
} from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { type Accounts, folders } from '../support/accounts.ts';
import { mirrorName } from '../support/go/program.ts';
import { it as itOnClusters } from '../support/it.ts';
import { SetMember } from '../support/mcs/cluster-set.ts';
import { argvOf, mirrorLabels, type MirrorProcess, MIRRORS, usualFlags } from '../support/mirror-process.ts';

const [web, slice] = [{ name: 'web' }, { name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] }];
const WEB = mirrorName('web');
const LEASE = { ...shortLease('semaphore-service-mirror-exercise'), 'lease-namespace': MIRRORS };

const complaintsOf = (mirror: MirrorProcess) =>
  mirror.log().flatMap(({ level, msg }) => (level === 'warn' || level === 'error' ? [msg] : []));

/** The server's other side, as a remote of the config. */
const remoteOf = ({ remote }: Accounts) => ({
  name: 'c2',
  kubeConfigPath: remote.kubeconfig,
  servicePrefix: 'c2',
  allowedPodCIDRs: ['10.4.0.0/16'],
});

/** Both sides are one API server; the only expected warning says so. */
const ONE_SERVER = [expect.stringContaining(' leads to the same API server as ')];

/**
 * A test with one real API server in place of both, whose audit log distinguishes the accounts of both sides. It has to be
 * listed, as all have that can't stream a list (WatchList); of those that can, most needs to be watched only.
 */
const it = itOnClusters
  .extend('server', { scope: 'file' }, async ({ localOptions: _localOptions }, { onCleanup }): Promise<RealCluster> => {
    const server = await startRealCluster({
      name: 'c1',
      audit: true,
      apiserverFlags: { 'feature-gates': 'WatchList=false' },
    });
    onCleanup(() => server.stop());
    await server.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: MIRRORS },
    });
    return server;
  })
  .extend('clusters', { scope: 'file' }, ({ server }) => ({ local: server, remote: server }))
  /** Everything that a mirror does, in a run and in its subcommands. */
  .extend('mirroring', ({ accounts, sources, mirrors, start, startWith }) => async () => {
    await mirrors.create('endpoints', {
      metadata: { name: WEB, labels: mirrorLabels },
      subsets: [{ addresses: [{ ip: '10.4.0.1' }] }],
    });
    await sources.add(web);
    await sources.addSlice(slice);
    await sources.add({ name: 'gone' });
    await sources.addSlice({ ...slice, name: 'gone-a', service: 'gone' });
    const mirror = await start(LEASE);
    await mirrors.become({ [WEB]: ['10.4.0.1'], [mirrorName('gone')]: ['10.4.0.1'] });
    await eventually(() => mirrors.endpointsObjects(), []);

    await sources.patch('services', web, { spec: { publishNotReadyAddresses: true } });
    await sources.patch('endpointslices', slice, {
      endpoints: [{ addresses: ['10.4.0.2'], conditions: { ready: true } }],
    });
    await sources.remove('endpointslices', { name: 'gone-a' });
    await sources.remove('services', { name: 'gone' });
    await mirrors.become({ [WEB]: ['10.4.0.2'] });
    const isChanged = async () =>
      ((await mirrors.service(WEB))['spec'] as { readonly publishNotReadyAddresses?: boolean })
        .publishNotReadyAddresses;
    await eventually(isChanged, true);
    const [served] = await mirrors.slices(WEB);
    await mirrors.patch('endpointslices', served!.metadata.name, { metadata: { labels: null } });
    await mirrors.become({ [WEB]: ['10.4.0.2'] });

    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    const cleanup = await startWith(
      ['cleanup', '-cluster=c9', '-yes', ...argvOf({ 'kube-config': accounts.local.kubeconfig, 'mirror-ns': MIRRORS })],
      { ready: false },
    );
    expect([(await plan.exited).code, (await cleanup.exited).code]).toEqual([0, 0]);
    expect(complaintsOf(mirror)).toEqual(ONE_SERVER);
    await mirror.stop();
  })
  /** What global Services need in addition, with the zones of Nodes. */
  .extend('merging', ({ server, accounts, sources, mirrors, startWith }) => async () => {
    const labels = { global: 'true', mirror: 'false' };
    await server.admin.create('/api/v1/nodes', node({ name: 'n1', zone: 'z1' }));
    await sources.add({ ...web, name: 'all', labels });
    await sources.addSlice({ ...slice, name: 'all-a', service: 'all', labels });
    const path = join(server.dir, 'service-mirror.json');
    const file = {
      global: {
        mirrorSvcLabelSelector: 'mirror=true',
        globalSvcLabelSelector: 'global=true',
        mirrorNamespace: MIRRORS,
      },
      localCluster: { name: 'c1', kubeConfigPath: accounts.local.kubeconfig },
      remoteClusters: [remoteOf(accounts)],
    };
    await writeFile(path, JSON.stringify(file));
    const mirror = await startWith([`-config=${path}`, ...argvOf({ ...LEASE, 'listen-address': '127.0.0.1:0' })]);
    await mirror.logged('zones of the local cluster');
    const clusters = async () =>
      (await mirrors.services()).find(({ metadata }) => metadata.name === 'gl-default-73736d-all')?.metadata
        .annotations?.['global-svc-clusters'];
    await eventually(clusters, 'c1,c2');
    expect(complaintsOf(mirror)).toEqual(ONE_SERVER);
    await mirror.stop();
  })
  /** What Multi-Cluster Services need in addition. */
  .extend('importing', ({ server, accounts, startWith }) => async () => {
    const member = new SetMember(server, async () => {
      const path = join(server.dir, 'mcs.json');
      const file = {
        global: { mirrorSvcLabelSelector: 'mirror=true', mirrorNamespace: MIRRORS },
        localCluster: { name: 'c1', kubeConfigPath: accounts.local.kubeconfig },
        mcs: {},
        remoteClusters: [remoteOf(accounts)],
      };
      await writeFile(path, JSON.stringify(file));
      return startWith([`-config=${path}`, ...argvOf({ ...LEASE, 'listen-address': '127.0.0.1:0' })]);
    });
    await server.admin.create(clusterPropertiesPath, clusterProperty('c2'));
    await member.createNamespace('shop');
    await member.start();
    await member.export('web', ['10.4.0.1']);
    await eventually(() => member.importedFrom('web'), ['c1', 'c2']);
    const spec = { sessionAffinity: 'ClientIP' };
    await server.admin.request('PATCH', '/api/v1/namespaces/shop/services/web', { spec });
    await member.setEndpoints('web', ['10.4.0.2']);
    await eventually(async () => (await member.import('web'))?.spec['sessionAffinity'], 'ClientIP');
    await eventually(() => member.addresses('web'), { c1: ['10.4.0.2'], c2: ['10.4.0.2'] });
    await eventually(
      () => member.conditions('web'),
      ['Valid=True Valid', 'Ready=True Ready', 'Conflict=False NoConflicts'],
    );
    await member.unexport('web');
    await eventually(() => member.addresses('web'), {});
    await eventually(() => member.derived(), []);
    expect(complaintsOf(member.mirror)).toEqual(ONE_SERVER);
    await member.mirror.stop();
  });

/** Mirrors have no order of clusters, so they need no properties. */
const alwaysNeeded = ({ grants }: Pick<ReturnType<typeof deployedRights>, 'grants'>) =>
  rightsIn(grants).filter((right) => right !== 'list clusterproperties.about.k8s.io');

describe('the accounts of deploy/service-mirror', () => {
  it('need each of their rights, and no other, also those of their components', async ({
    server,
    mirroring,
    merging,
    importing,
  }) => {
    const base = [deployedRights(folders.local), deployedRights(folders.remote)];
    let before: readonly AuditEvent[] = [];
    await mirroring();
    const use = async () => {
      before = await server.auditLog();
      return base.map((rights) => useOf(before, rights));
    };
    await eventually(
      use,
      base.map((rights) => ({ needed: alwaysNeeded(rights), refused: [] })),
    );

    for (const crd of [...deployedCrds('service-mirror/mcs'), clusterPropertyCrd]) await server.defineResource(crd);
    for (const [exercise, ...components] of [
      [merging, [folders.local, folders.globals], [folders.remote]],
      [importing, [folders.local, folders.mcs], [folders.remote, folders.remoteMcs]],
    ] as const) {
      before = await server.auditLog();
      for (const [folder, component] of components)
        if (component !== undefined) await deployComponent(server, folder, component);
      await exercise();
      const all = components.map((both) => deployedRights(...both));
      // A right of both the role and the component would count as needed for neither, so the role's were checked before.
      const own = all.map(({ grants }) => {
        const others = base.flatMap(alwaysNeeded);
        return rightsIn(grants).filter((right) => !others.includes(right));
      });
      const useBesides = async () => {
        const events = (await server.auditLog()).slice(before.length);
        return all.map((rights, i) => {
          const { needed, refused } = useOf(events, rights);
          return { needed: needed.filter((right) => own[i]!.includes(right)), refused };
        });
      };
      await eventually(
        useBesides,
        own.map((needed) => ({ needed, refused: [] })),
      );
      // The next component may have the same rights.
      const theirs = new Set(base.flatMap(({ objects }) => objects.map(({ metadata }) => metadata.name)));
      for (const { kind, metadata } of all.flatMap(({ objects }) => objects))
        if (kind === 'ClusterRoleBinding' && !theirs.has(metadata.name))
          await server.admin.delete(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${metadata.name}`);
    }
  });
});
