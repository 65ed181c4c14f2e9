import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  builtImage,
  dnsImage,
  dnsManifests,
  fileImage,
  type ImageSource,
  NodeCluster,
} from '@kube-semaphore/real-nodes';
import { bash, calicoApiCrds, builtBinary, imageName, type RealCluster, type Registry } from '@kube-semaphore/testkit';
import { startNetwork } from '@kube-semaphore/testnet';
import { it as base } from 'vitest';

const names = ['c1', 'c2'] as const;
type Name = (typeof names)[number];

/** The ranges of the page. */
const ranges: Readonly<Record<Name, { readonly pods: string; readonly services: string; readonly dns: string }>> = {
  c1: { pods: '10.2.0.0/16', services: '10.3.0.0/16', dns: '10.3.0.10' },
  c2: { pods: '10.4.0.0/16', services: '10.5.0.0/16', dns: '10.5.0.10' },
};

const corefile = '.:53 {\n  ready\n  kubernetes cluster.local\n  reload 2s\n  loadbalance\n}\n';

/** What kubeadm and Calico's installer write into a cluster, by its path. */
const installed = ({ internalUrl }: RealCluster, { pods }: (typeof ranges)[Name]) => ({
  '/api/v1/namespaces/kube-public/configmaps': {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info' },
    data: { kubeconfig: JSON.stringify({ clusters: [{ cluster: { server: internalUrl } }] }) },
  },
  '/apis/projectcalico.org/v3/ippools': {
    apiVersion: 'projectcalico.org/v3',
    kind: 'IPPool',
    metadata: { name: 'default-ipv4-ippool' },
    spec: { cidr: pods },
  },
});

const semaphore = resolve('apps/cli/bin/semaphore.js');

const busybox = { 'bin/busybox': '/bin/busybox' };

/** A web server by the name of nginx. */
const webImage = (): ImageSource =>
  fileImage({
    name: 'docker.io/library/nginx:1.29',
    entrypoint: ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', '/'],
    files: busybox,
  });

/** The curl of this machine, with its libraries. */
async function curlImage(): Promise<ImageSource> {
  const { stdout } = await promisify(execFile)('ldd', ['/usr/bin/curl']);
  const libraries = Array.from(stdout.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => [path.slice(1), path] as const);
  return fileImage({
    name: 'docker.io/curlimages/curl:8.16.0',
    entrypoint: ['/bin/curl'],
    files: { ...busybox, 'bin/curl': '/usr/bin/curl', ...Object.fromEntries(libraries) },
    links: { 'bin/sleep': 'busybox' },
  });
}

/** The images that nodes have: not those of the apps if there is a registry. */
async function images(registry: Registry | undefined): Promise<readonly ImageSource[]> {
  const apps = registry === undefined ? ['policy', 'service-mirror', 'wireguard'] : [];
  return [dnsImage(), webImage(), await curlImage(), ...apps.map((app) => builtImage(imageName(app)))];
}

/** A shell's `helm`: none is on the PATH. */
function helmFunction(): string {
  return `helm() { '${builtBinary('helm')}' "$@"; }`;
}

/**
 * A test with the start of getting-started: two clusters with one node each, which has the images or reaches a `registry` of
 * this machine, and a copy of deploy/. `type` runs commands there, with the contexts c1 and c2, and the `semaphore` of this
 * source.
 */
export const it = base
  .extend('registry', { scope: 'file' }, (): Registry | undefined => undefined)
  .extend('crds', { scope: 'file' }, () => calicoApiCrds())
  .extend(
    'clusters',
    { scope: 'file' },
    async ({ crds, registry }, { onCleanup }): Promise<Readonly<Record<Name, RealCluster>>> => {
      const network = await startNetwork();
      const started: NodeCluster[] = [];
      onCleanup(async () => {
        await Promise.all(started.map((nodes) => nodes.stop()));
        await network.stop();
      });
      const start = async (name: Name) => {
        const { pods, services, dns } = ranges[name];
        const options = { name, network, clusterCidr: pods, serviceCidr: services, images: await images(registry) };
        const nodes = await NodeCluster.start({ ...options, times: { syncSeconds: 1 } });
        started.push(nodes);
        for (const crd of crds) await nodes.cluster.defineResource(crd);
        for (const [path, object] of Object.entries(installed(nodes.cluster, ranges[name])))
          await nodes.cluster.admin.create(path, object);
        for (const { machine } of await nodes.addNodes(1))
          if (registry !== undefined) await machine.forward(registry.port);
        const items = dnsManifests(dns, corefile);
        const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
        await bash(`kubectl apply -f - <<'END'\n${list}\nEND`, nodes.cluster);
        return nodes;
      };
      const [c1, c2] = await Promise.all([start('c1'), start('c2')]);
      await Promise.all([c1.addCaller(network.node('c2')), c2.addCaller(network.node('c1'))]);
      return { c1: c1.cluster, c2: c2.cluster };
    },
  )
  .extend('type', { scope: 'file' }, async ({ clusters }) => {
    const folder = join(clusters.c1.dir, 'work');
    await mkdir(folder);
    await cp('deploy', join(folder, 'deploy'), { recursive: true });
    const kubeconfig = names.map((name) => clusters[name].adminKubeconfig).join(':');
    const prelude = [
      `export KUBECONFIG=${kubeconfig}`,
      `npx() { '${process.execPath}' '${semaphore}' "\${@:2}"; }`,
      // What npm's scripts need is in this user's cache.
      `npm() { HOME='${homedir()}' command npm --prefix '${resolve()}' "$@"; }`,
      helmFunction(),
      `cd ${folder}\n`,
    ].join('\n');
    const run = (commands: string) => bash(`${prelude}${commands}`, clusters.c1);
    return async (commands: string) => {
      try {
        return await run(commands);
      } catch (error) {
        console.error((await run(names.map(describe).join('\n'))).stdout);
        throw error;
      }
    };
  });

/** Commands that print the Pods of a cluster, and the logs of the apps. */
const describe = (name: Name): string => `
kubectl --context ${name} get pods -A -o wide || true
for app in policy service-mirror wireguard; do
  kubectl --context ${name} logs -n kube-system -l app=semaphore-$app --all-containers --prefix --tail=40 2>&1 || true
done
kubectl --context ${name} logs -n sys-semaphore -l app=semaphore-service-mirror --prefix --tail=40 2>&1 || true`;
