import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type KubeObject, writeKubeconfig } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import {
  inPlace,
  type RealCluster,
  type Running,
  startComponent,
  type Supervision,
  type Tool,
} from '@kube-semaphore/testkit';
import type { NetworkNode, Place } from '@kube-semaphore/testnet';
import { calicoNetwork, felixVariables, type Ipam } from './calico.ts';
import type { ImageStore } from './image-store.ts';
import { INIT } from './init.ts';
import {
  CNI_PLUGINS,
  containerdConfig,
  kubeletConfig,
  type KubeletTimes,
  kubeProxyConfig,
  type NodeSettings,
  podNetwork,
} from './node-files.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The namespaces that a node has besides those of its machine. */
const unshared = ['--mount', '--pid', '--uts', '--ipc', '--cgroup'];

/** The machine may be busy. */
const READY_TIMEOUT_MS = 300_000;

export type RealNodeOptions = {
  readonly cluster: RealCluster;
  readonly supervision: Supervision;
  /** Its machine, on the network of the API server. */
  readonly machine: NetworkNode;
  readonly clusterCidr: string;
  readonly clusterDns: string;
  readonly times: KubeletTimes;
  /** The images that it has. */
  readonly images: ImageStore;
  readonly paths: Readonly<Record<Tool, string>>;
  /** As in NodeClusterOptions. */
  readonly calico?: Ipam | undefined;
};

/** A node of a cluster: containerd, a kubelet and kube-proxy, in namespaces of their own. */
export class RealNode {
  readonly name: string;
  readonly machine: NetworkNode;
  /** The folder of its files: `log` and `lib` are its /var/log and /var/lib. */
  readonly dir: string;
  readonly #options: RealNodeOptions;
  #running: Running | undefined;

  constructor(options: RealNodeOptions) {
    const { machine, supervision } = options;
    this.name = machine.name;
    this.machine = machine;
    this.dir = join(supervision.dir, this.name);
    this.#options = options;
  }

  /** Writes its files and starts it. It isn't ready before {@link configurePods}. */
  async start(): Promise<void> {
    const { cluster, clusterCidr, clusterDns, times, images, calico } = this.#options;
    const { dir, name } = this;
    const settings: NodeSettings = { dir, name, clusterCidr, clusterDns, clientCaFile: cluster.caFile };
    await Promise.all(['lib', 'log', 'cni', 'plugins'].map((folder) => mkdir(join(dir, folder), { recursive: true })));
    await Promise.all([
      writeFile(join(dir, 'containerd.toml'), containerdConfig(settings)),
      writeFile(join(dir, 'kubelet.json'), JSON.stringify(kubeletConfig(settings, times))),
      writeFile(join(dir, 'kube-proxy.json'), JSON.stringify(kubeProxyConfig(settings))),
      // An address that is reserved for documentation, so that no Pod asks the machine's own resolver.
      writeFile(join(dir, 'resolv.conf'), 'nameserver 192.0.2.53\n'),
      this.#writeKubeconfigs(),
      images.copyTo(join(dir, 'lib', 'containerd')),
    ]);
    await this.#linkPlugins();
    if (calico !== undefined) {
      const variables = Object.entries(felixVariables(name, join(dir, 'calico.kubeconfig')));
      await writeFile(join(dir, 'felix.env'), variables.map(([variable, value]) => `${variable}=${value}`).join('\n'));
    }
    await this.#run();
  }

  /** The range for its Pods, once the kubelet has registered the Node and a controller has allocated one. */
  async podCidr(): Promise<string> {
    return eventually(
      async () => ((await this.#object())?.['spec'] as { podCIDR?: string } | undefined)?.podCIDR,
      isDefined,
      { what: `a range for the Pods of ${this.name}`, timeoutMs: READY_TIMEOUT_MS },
    );
  }

  /** Configures the network of its Pods, which containerd reads at once. */
  async configurePods(podCidr: string): Promise<void> {
    const file = join(this.dir, 'cni', '10-pods.conflist');
    const network =
      this.#options.calico === undefined
        ? podNetwork(podCidr)
        : calicoNetwork(this.name, podCidr, join(this.dir, 'calico.kubeconfig'), this.#options.calico);
    await writeFile(`${file}.new`, JSON.stringify(network));
    await rename(`${file}.new`, file);
  }

  /** Resolves when its Node is ready. */
  async ready(): Promise<void> {
    await eventually(() => this.isReady(), true, { what: `node ${this.name} ready`, timeoutMs: READY_TIMEOUT_MS });
  }

  /** Whether its Node is ready, as far as the API server knows. */
  async isReady(): Promise<boolean> {
    const { conditions = [] } = ((await this.#object())?.['status'] ?? {}) as { conditions?: readonly Condition[] };
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  /**
   * Runs a program on it, to its end.
   *
   * @returns what it wrote to standard output
   * @throws {Error} with `code` and `stderr` unless it ends with 0
   */
  async run(file: string, args: readonly string[]): Promise<string> {
    const pid = (await readFile(this.#pidFile, 'utf8')).trim();
    const enter = ['--target', pid, '--all', '--wdns=/', '--', 'env', `PATH=${PATH}`, file, ...args];
    const { stdout } = await promisify(execFile)('nsenter', enter);
    return stdout;
  }

  /** Kills its kubelet, which is started again. Its Pods continue to run. */
  async killKubelet(): Promise<void> {
    await this.run('pkill', ['-KILL', '-x', 'kubelet']);
  }

  /** Gives the kubelet, kube-proxy and Calico new certificates and the cluster's CAs as they are now, and restarts them. */
  async renewCertificates(): Promise<void> {
    await this.#writeKubeconfigs();
    await this.run('pkill', ['-KILL', '-x', 'kubelet|kube-proxy|calico-felix']);
  }

  /** Takes it off the network and kills all that runs on it, as when a machine loses power. The API server isn't told. */
  async unplug(underlay: Place): Promise<void> {
    await underlay.run('ip', ['link', 'set', 'dev', this.name, 'down']);
    await this.#running?.kill();
  }

  /** Starts it again, with its disk as it was. */
  async plugIn(underlay: Place): Promise<void> {
    await underlay.run('ip', ['link', 'set', 'dev', this.name, 'up']);
    await this.#run();
  }

  /** @throws {ComponentError} with the end of its log if it can't be set up */
  async #run(): Promise<void> {
    const { supervision, machine, paths, calico } = this.#options;
    const { dir, name } = this;
    const felix = calico === undefined ? '' : paths['calico-felix'];
    const args = [dir, name, machine.ipv4, paths.kubelet, paths['kube-proxy'], felix];
    // Not `ip netns exec`, which mounts /sys anew, without control groups.
    const component = inPlace(machine, {
      name,
      file: 'unshare',
      args: [...unshared, '--propagation=private', '--fork', '--kill-child', 'sh', '-c', INIT, name, ...args],
      log: join(dir, 'log', 'init.log'),
      env: { PATH },
    });
    const cgroup = `${basename(supervision.dir)}-${name}`;
    await rm(this.#pidFile, { force: true });
    const isUp = async () => (await readFile(this.#pidFile, 'utf8')) !== '';
    this.#running = await startComponent(supervision, { ...component, cgroup }, isUp);
  }

  /** containerd has one folder for plugins. */
  async #linkPlugins(): Promise<void> {
    const { calico, paths } = this.#options;
    const plugins = new Map((await readdir(CNI_PLUGINS)).map((name) => [name, join(CNI_PLUGINS, name)]));
    // It is both, and knows by its name which one.
    if (calico !== undefined) for (const name of ['calico', 'calico-ipam']) plugins.set(name, paths.calico);
    for (const [name, file] of plugins) await symlink(file, join(this.dir, 'plugins', name));
  }

  /** Has the pid of its first process once all of its programs have been started. */
  get #pidFile(): string {
    return join(this.dir, 'pid');
  }

  async #object(): Promise<KubeObject | undefined> {
    const { status, body } = await this.#options.cluster.admin.request('GET', `/api/v1/nodes/${this.name}`);
    return status === 200 ? body : undefined;
  }

  async #writeKubeconfigs(): Promise<void> {
    await this.#writeKubeconfig('kubelet', `system:node:${this.name}`, ['system:nodes']);
    await this.#writeKubeconfig('kube-proxy', 'system:kube-proxy', []);
    await this.#writeKubeconfig('calico', 'calico', ['system:masters']);
  }

  async #writeKubeconfig(program: string, user: string, groups: readonly string[]): Promise<void> {
    const { cluster } = this.#options;
    await writeKubeconfig(join(this.dir, `${program}.kubeconfig`), {
      name: cluster.name,
      url: cluster.internalUrl,
      caPem: await readFile(cluster.caFile, 'utf8'),
      credentials: { certificate: await cluster.issueClientCertificate(user, groups) },
    });
  }
}

type Condition = { readonly type: string; readonly status: string };
