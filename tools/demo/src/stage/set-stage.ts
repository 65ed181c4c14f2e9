import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Narrator } from '../narrator.ts';
import { table } from '../text/table.ts';
import type { AppOptions } from './app.ts';
import type { Backstage } from './backstage.ts';
import { Mesh } from './mesh.ts';
import { prepareSite, type Site } from './site.ts';
import type { Stage } from './stage.ts';

/** Who sets the stage, and whom to tell when it falls apart later. */
export type SetStageOptions = {
  readonly backstage: Backstage;
  readonly tell: Narrator;
  readonly signal: AbortSignal;
  readonly real: boolean;
  readonly onFailure: (error: Error) => void;
};

/** The first scene, which makes what the others play with: starts the clusters, and in each the app for the other. */
export async function setStage(options: SetStageOptions): Promise<Stage> {
  const { backstage, tell, signal, onFailure } = options;
  tell.scene('Two clusters that watch each other');
  const [c1, c2] = await startClusters(options);
  const [checkout, ledger] = await Promise.all([c2.workload('shop', 'checkout'), c1.workload('payments', 'ledger')]);
  const shops = { c1: await c1.workload('default', 'shop'), c2: await c2.workload('default', 'shop') };
  const line = await backstage.startFaultProxy(c2.server);
  await startApps(options, { c1, c2, line });
  const mesh = new Mesh({ backstage, sites: [c1, c2], onFailure, signal });
  return { backstage, c1, c2, line, checkout, ledger, shops, mesh, tell, onFailure, signal };
}

async function startClusters({ backstage, tell, real, onFailure }: SetStageOptions): Promise<[Site, Site]> {
  const servers = real
    ? 'Each cluster is a real kube-apiserver with its own etcd.'
    : 'Each cluster is a small API server inside this process, with TLS, tokens, RBAC, lists and watches.';
  tell.say(
    `${servers} No container runs in them: the demo creates Pod objects and gives each its addresses, as a kubelet ` +
      'would. Everything that comes of it is the work of kube-semaphore.',
  );
  const startMs = performance.now();
  const start = async (name: string, number: number) =>
    prepareSite(await backstage.startCluster(name), { number, onFailure });
  const sites = await Promise.all([start('c1', 1), start('c2', 2)]);
  tell.milestone('both clusters serve their APIs', performance.now() - startMs);
  tell.show(table(sites.map(({ name, server, network: { v4, v6 } }) => [name, server.url, `pods ${v4}, ${v6}`])));
  return sites;
}

async function startApps(
  { backstage, tell, signal, onFailure }: SetStageOptions,
  { c1, c2, line }: Pick<Stage, 'c1' | 'c2' | 'line'>,
): Promise<void> {
  const start = (site: Site, remote: Site, access: AppOptions['flags']) =>
    backstage.startApp({
      program: 'semaphore-policy',
      cluster: site.name,
      flags: {
        'target-cluster-name': remote.name,
        'local-kube-config': site.policy.writer.kubeconfig,
        ...access,
        'listen-address': '127.0.0.1:0',
      },
      log: join(site.server.dir, 'semaphore-policy.log'),
      onDeath: onFailure,
    });
  const inC1 = start(c1, c2, { 'target-kube-config': await line.kubeconfig(c2.policy.reader) });
  const inC2 = start(c2, c1, {
    'remote-api-url': c1.server.url,
    'remote-ca-url': pathToFileURL(c1.server.caFile).href,
    'remote-sa-token-path': c1.policy.reader.tokenFile,
  });
  tell.say(
    'Each cluster runs its own semaphore-policy, which writes there and only reads in the other one. That of c1 ' +
      'knows c2 by a kubeconfig, which leads to c2 through a proxy of the demo: it will be of use later.',
  );
  tell.show(inC1.command);
  tell.say('That of c2 knows c1 by an address, a CA certificate and the token of a ServiceAccount:');
  tell.show(inC2.command);
  const startsMs = await Promise.all([inC1, inC2].map((app) => app.ready({ signal })));
  tell.milestone(
    'both semaphore-policy processes are ready',
    Math.max(...startsMs),
    ': they have listed what there is, and watch for changes',
  );
}
