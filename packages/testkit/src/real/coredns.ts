import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PolicyRule, TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { Place } from '@kube-semaphore/testnet';
import { builtBinary } from './binaries.ts';
import { inPlace, type NodeComponent } from './node-component.ts';
import { startComponent } from './start-component.ts';
import { Supervision } from './supervision.ts';

export type CoreDnsOptions = {
  /** Whose Services it knows. Its port is at 127.0.0.1 of the place, too. */
  readonly cluster: TestCluster;
  /** The node or pod where it listens, on the ports that the Corefile says: one CoreDNS at a time. */
  readonly node: Place;
  readonly corefile: string;
  /** What its /etc/resolv.conf says. Default: an address that no one answers at. */
  readonly resolver?: string;
};

/** What the manifests of CoreDNS let it do, and those of Multi-Cluster Services. */
const rules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceimports'], verbs: ['list', 'watch'] },
];

/** /var/run leads to /run, of which each node has one of its own. */
const SERVICE_ACCOUNT = '/run/secrets/kubernetes.io/serviceaccount';

/** Instead of the machine's, which CoreDNS could take for itself: 127.0.0.53 is the node's own there. */
const UNREACHABLE = '192.0.2.53';

/** Names a resolver. The file may be a link into /run, which is empty. */
const withResolver = (resolver: string): string => `
file=$(readlink -m /etc/resolv.conf) && mkdir -p "$(dirname "$file")" && : >> "$file" &&
echo 'nameserver ${resolver}' > /run/resolv.conf && mount --bind /run/resolv.conf "$file"`;

/**
 * Starts CoreDNS as a pod of the cluster would run it: with a service account, and with the Corefile as it is.
 *
 * @throws {Error} if it isn't built
 * @throws {ComponentError} with the end of its log if it doesn't like the Corefile
 */
export async function startCoreDns({
  cluster,
  node,
  corefile,
  resolver = UNREACHABLE,
}: CoreDnsOptions): Promise<NodeComponent> {
  const program = builtBinary('coredns');
  const { token } = await cluster.account(`coredns-${randomBytes(4).toString('hex')}`, rules);
  await node.run('mkdir', ['-p', SERVICE_ACCOUNT]);
  await node.run('tee', [`${SERVICE_ACCOUNT}/token`], { input: token });
  await node.run('tee', [`${SERVICE_ACCOUNT}/ca.crt`], { input: await readFile(cluster.caFile, 'utf8') });
  await node.run('sh', ['-c', withResolver(resolver)]);

  const supervision = await Supervision.start();
  const [file, log] = [join(supervision.dir, 'Corefile'), join(supervision.dir, 'coredns.log')];
  const { hostname, port } = new URL(cluster.url);
  const component = inPlace(node, {
    name: 'coredns',
    file: program,
    args: ['-conf', file],
    log,
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  });
  try {
    await writeFile(file, corefile);
    // It names itself once it listens, for which it waits until it has read the cluster.
    await startComponent(supervision, component, async () => (await readFile(log, 'utf8')).includes('\nCoreDNS-'));
  } catch (error) {
    await supervision.stop();
    throw error;
  }
  return { dir: supervision.dir, stop: () => supervision.stop() };
}
