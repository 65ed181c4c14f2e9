import { pathToFileURL } from 'node:url';
import { startEmbeddedCluster, type TestCluster } from '@kube-semaphore/embedded-apiserver';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { startRealCluster } from '@kube-semaphore/testkit';
import type { Ability } from '../ability.ts';
import type { Launch } from '../apps.ts';
import { type DemoCluster, prepareCluster } from '../demo-cluster.ts';
import type { Nodes } from '../nodes.ts';
import type { Printer } from '../printer.ts';
import type { Started } from '../started.ts';
import { table } from '../text/table.ts';
import { Workload } from '../workload.ts';

type Input = { readonly out: Printer; readonly started: Started; readonly ability: Ability; readonly real: boolean };

/** The state that all steps share. */
export type Demo = Awaited<ReturnType<typeof start>>;

/** Announces a change, makes it, waits for its result, and prints how long that took. */
export type Step = (demo: Demo) => Promise<void>;

/** The first step: starts two clusters, and in each the app that watches the other one. */
export async function start({ out, started, ability, real }: Input) {
  const servers = real
    ? 'Each cluster is a real kube-apiserver with its own etcd.'
    : 'Each cluster is a small API server inside this process, with TLS, tokens, RBAC, lists and watches.';
  out.step(
    'Two clusters that watch each other',
    `${servers} No container runs in them: the demo creates Pod objects
    and gives each its addresses, as a kubelet does. The rest is the work of kube-semaphore.`,
  );
  const startMs = performance.now();
  const startServer = real ? startRealCluster : startEmbeddedCluster;
  const startCluster = async (name: string, number: number) => {
    const server = await started.server<TestCluster>(() => startServer({ name }));
    const cluster = await prepareCluster(server, number);
    await started.server(async () => cluster.history);
    return cluster;
  };
  const [c1, c2] = await Promise.all([startCluster('c1', 1), startCluster('c2', 2)]);
  const line = await started.server(() => startFaultProxy(c2.server));
  out.result('both clusters serve their APIs', performance.now() - startMs);
  const rowOf = ({ name, server, podNetworks }: DemoCluster) => [name, server.url, `pods ${podNetworks.join(', ')}`];
  out.show(table([c1, c2].map(rowOf)));

  const startPolicy = (cluster: DemoCluster, remote: DemoCluster, access: Launch['flags']) =>
    started.app({
      program: 'semaphore-policy',
      cluster,
      flags: {
        'target-cluster-name': remote.name,
        'local-kube-config': cluster.policy.writer.kubeconfig,
        ...access,
        'listen-address': '127.0.0.1:0',
      },
    });
  const inC1 = startPolicy(c1, c2, {
    'target-kube-config': await line.kubeconfig(c2.policy.reader),
    'network-policies': true,
    'allowed-pod-cidrs': c2.podNetworks.join(','),
  });
  const inC2 = startPolicy(c2, c1, {
    'remote-api-url': c1.server.url,
    'remote-ca-url': pathToFileURL(c1.server.caFile).href,
    'remote-sa-token-path': c1.policy.reader.tokenFile,
  });
  out.say(
    `Each cluster runs its own semaphore-policy, which writes there, and only reads the other cluster. The one in
    c1 has a kubeconfig for c2, which leads through a proxy of the demo. The proxy cuts the connection later:`,
    inC1.command,
  );
  out.say('The one in c2 has the address of c1, a CA certificate and the token of a ServiceAccount:', inC2.command);
  const readyMs = Math.max(...(await Promise.all([inC1.ready(), inC2.ready()])));
  out.result('both semaphore-policy processes are ready', readyMs, ': each has listed the Pods, and watches changes');
  return {
    out,
    started,
    ability,
    c1,
    c2,
    /** Leads from the apps of c1 to the API server of c2. */
    line,
    checkout: new Workload(c2, 'shop/checkout'),
    ledger: new Workload(c1, 'payments/ledger'),
    /** One app in both clusters. */
    shops: [new Workload(c1, 'default/shop'), new Workload(c2, 'default/shop')] as const,
    /** Undefined until a step makes them. */
    nodes: undefined as Nodes | undefined,
  };
}
