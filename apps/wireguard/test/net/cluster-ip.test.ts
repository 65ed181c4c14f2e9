import { once } from 'node:events';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually, TIMEOUT_MS } from '@kube-semaphore/eventually';
import { endpointSlice, node as nodeObject, service, startKubeProxy, startRealCluster } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { onTestFinished } from 'vitest';
import type { MeshNode } from '../support/mesh.ts';
import { itWithAgents } from '../support/mesh-it.ts';

const it = itWithAgents.extend('agentOptions', { scope: 'file' }, () => ({
  remotes: { c2: { deviceAddress: 'auto' } },
}));

const MIRROR = 'c2-default-73736d-web';

/** Answers every connection to port 8080 of a place with its source address. */
async function serve(place: Place): Promise<void> {
  const script = `require('node:net')
    .createServer((socket) => socket.on('error', () => {}).end(socket.remoteAddress.replace('::ffff:', '')))
    .listen(8080, '::', () => console.log('listening'))`;
  const server = place.spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** The source address that a server at port 80 sees; undefined: no answer. */
const seenAs = (place: Place, host: string): Promise<string | undefined> =>
  place.run('bash', ['-c', 'exec 3<>"/dev/tcp/$0/80" && cat <&3', host], { timeoutMs: 5_000 }).catch(() => undefined);

/** The API server of kube-proxy on a node, with a Service as the mirror of one whose pod is on another. */
async function startServices({ machine, podCidrs }: MeshNode, { podIps }: MeshNode): Promise<KubeObject> {
  const cluster = await startRealCluster({ name: 'services' });
  onTestFinished(() => cluster.stop());
  await machine.forward(Number(new URL(cluster.url).port));
  await cluster.admin.create(
    '/api/v1/nodes',
    nodeObject({ name: machine.name, internalIPs: [machine.ipv4, machine.ipv6] }),
  );
  const dualStack = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };
  const mirror = await cluster.admin.create(
    '/api/v1/namespaces/default/services',
    service({ name: MIRROR, selector: null, spec: dualStack }),
  );
  for (const [family, ip] of Object.entries(podIps)) {
    await cluster.admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      endpointSlice({ name: `${MIRROR}-${family}`, service: MIRROR, endpoints: [ip] }),
    );
  }
  const kubeProxy = await startKubeProxy({ cluster, node: machine, clusterCidr: podCidrs.join(',') });
  onTestFinished(() => kubeProxy.stop());
  return mirror;
}

it('lets the node itself reach a mirrored Service and its pods', async ({ mesh }) => {
  const [near, far] = mesh.nodes;
  const { machine, pod } = near!;
  await serve(far!.pod);
  // A cluster's address takes any way out; where it leads is decided when it is a pod's.
  for (const family of ['-4', '-6']) await machine.run('ip', [family, 'route', 'add', 'default', 'dev', 'eth0']);
  const { spec } = (await startServices(near!, far!)) as { spec?: { clusterIPs: readonly string[] } };
  const [v4 = '', v6 = ''] = spec?.clusterIPs ?? [];
  // Packets of the node are masqueraded: their source is the device's address, in the node's podCIDR.
  await eventually(() => seenAs(machine, v4), '10.1.1.0');
  await eventually(() => seenAs(machine, v6), 'fd00:1:0:1::');
  await eventually(() => seenAs(pod, v4), near!.podIps.v4);
  await eventually(() => seenAs(pod, v6), near!.podIps.v6);
});
