import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined, TIMEOUT_MS } from '@kube-semaphore/eventually';
import {
  endpointSlice,
  type Program,
  type RealCluster,
  service,
  spawnProgram,
  startKubeProxy,
} from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { onTestFinished } from 'vitest';
import type { Mesh, MeshNode } from './mesh.ts';

const launcher = fileURLToPath(new URL('../../../service-mirror/bin/semaphore-service-mirror.js', import.meta.url));

const MIRRORS = 'sys-semaphore';

/** What the Service of `addService` is in c1: its mirror, and a global Service. */
export const LOCAL_NAMES = ['c2-default-73736d-web', 'gl-default-73736d-web'] as const;

const labels = { mirror: 'true', global: 'true' };

/** Answers each connection to port 8080 of a place with a name. */
async function serve(place: Place, name: string): Promise<void> {
  const script = `require('node:net')
    .createServer((socket) => socket.on('error', () => {}).end(process.argv[1]))
    .listen(8080, '::', () => console.log('listening'))`;
  const server = place.spawn(process.execPath, ['-e', script, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Adds the Service `web`, global and to be mirrored: the pod of each node answers as `c2-n1`. */
export async function addService(nodes: readonly MeshNode[], spec: object = {}): Promise<void> {
  const { admin } = nodes[0]!.cluster.server;
  await admin.create(
    '/api/v1/namespaces/default/services',
    service({ name: 'web', labels, selector: null, spec: { ...spec } }),
  );
  for (const { pod, cluster, name } of nodes) await serve(pod, `${cluster.name}-${name}`);
  for (const family of ['v4', 'v6'] as const)
    await admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      endpointSlice({
        name: `web-${family}`,
        service: 'web',
        labels,
        endpoints: nodes.map(({ name, podIps }) => ({
          addresses: [podIps[family]],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: name,
        })),
      }),
    );
}

/**
 * Runs semaphore-service-mirror in c1, whose API server is real, with c2 as its remote; and kube-proxy on a node of c1. Both end with
 * the test.
 *
 * @param ofRemote what the file says of c2 besides
 */
export async function startMirror(mesh: Mesh, { machine, podCidrs }: MeshNode, ofRemote: object): Promise<Program> {
  const [local, remote] = ['c1', 'c2'].map((name) => mesh.cluster(name).server) as [RealCluster, TestCluster];
  const kubeProxy = await startKubeProxy({ cluster: local, node: machine, clusterCidr: podCidrs.join(',') });
  onTestFinished(() => kubeProxy.stop());
  await local.admin.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: MIRRORS },
  });
  const config = join(mesh.dir, 'service-mirror.json');
  const file = {
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      mirrorNamespace: MIRRORS,
    },
    localCluster: { name: 'c1', kubeConfigPath: local.adminKubeconfig },
    remoteClusters: [{ name: 'c2', servicePrefix: 'c2', kubeConfigPath: remote.adminKubeconfig, ...ofRemote }],
  };
  await writeFile(config, JSON.stringify(file));
  const mirror = spawnProgram(launcher, [`-config=${config}`, '-listen-address=127.0.0.1:0']);
  onTestFinished(async ({ task }) => {
    await mirror.stop('SIGKILL');
    if (task.result?.state === 'fail') console.error(mirror.stderr());
  });
  await mirror.ready();
  return mirror;
}

/** The addresses of a Service that semaphore-service-mirror wrote. */
export async function clusterIpsOf({ admin }: TestCluster, name: string): Promise<readonly string[]> {
  const find = async (): Promise<readonly string[] | undefined> => {
    const { body } = await admin.request('GET', `/api/v1/namespaces/${MIRRORS}/services/${name}`);
    return (body['spec'] as { readonly clusterIPs?: readonly string[] } | undefined)?.clusterIPs;
  };
  return eventually(find, isDefined, { what: `the Service ${name}` });
}
