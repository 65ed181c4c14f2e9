import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import {
  cleanUp,
  cleanupConfirmation,
  overriddenAddresses,
  readConfigSource,
  remotesOfFile,
  withClusters,
} from '@kube-semaphore/multicluster';
import {
  beforeScrape,
  type Command,
  ConfigError,
  type ConfigSource,
  createMetrics,
  type Logger,
  serve,
} from '@kube-semaphore/runtime';
import { pageOf } from '@kube-semaphore/text';
import { systemTools, watchLinks } from '@kube-semaphore/wireguard-tools';
import { removalsOf } from './cleanup.ts';
import { parseClustersFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import type { WireGuardOptions } from './config/options.ts';
import { systemDevices } from './local/device.ts';
import type { Purpose } from './local/prepare-node.ts';
import { observeMetrics } from './metrics/device.ts';
import { metrics as metricTable, type WireGuardMetrics } from './metrics/metrics.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { statusExitCode, statusJson, statusText } from './status.ts';
import { WireGuard } from './wireguard.ts';

type WireGuardCommand = Command<WireGuardOptions>;

/** Keeps the tunnels to all remotes until `signal` is aborted. */
export async function runAgent(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const { listenAddress } = options;
  return withWireGuard(
    command,
    'run',
    async (wireguard, { registry, metrics, file, samples }) => {
      beforeScrape(registry, samples);
      const health = { isLive: () => wireguard.isLive(), isReady: () => wireguard.isReady() };
      const input = { ...health, listenAddress, registry, metrics, file, version, log };
      await serve((running) => wireguard.run(running), input, run);
      return 0;
    },
    run,
  );
}

/** Prints what `runAgent` would change on this node, and changes nothing. */
export async function runPlan(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { output, timeoutMs } = command.options;
  const print = async (wireguard: WireGuard): Promise<number> => {
    const plan = await wireguard.plan({ ...run, timeoutMs });
    command.print(output === 'json' ? planJson(plan) : planText(plan));
    return exitCodeOf(plan);
  };
  return withWireGuard(command, 'plan', print, run);
}

/** Prints the peers of this node. */
export async function runStatus(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { output, timeoutMs } = command.options;
  const print = async (wireguard: WireGuard): Promise<number> => {
    const status = await wireguard.status({ ...run, timeoutMs });
    command.print(output === 'json' ? statusJson(status) : statusText(status));
    if (status.problem !== undefined) process.stderr.write(`semaphore-wireguard: ${status.problem}\n`);
    return statusExitCode(status);
  };
  return withWireGuard(command, 'status', print, run);
}

/** Removes what is ours from this node: of one remote, or of all. */
export async function runCleanup(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { options, notices, print, userAgent } = command;
  const { cleanupCluster: cluster, nodeName, wgKeyPath: keyFolder, yes } = options;
  const name = cluster ?? 'all';
  // A remote that is in the config may be cleaned up: then it is the node that goes.
  const confirm = cleanupConfirmation({ cluster: name, served: [], yes });
  const { settings, references } = readSettings(options, notices);
  const removeAll = async ({ local }: { readonly local: Connection }): Promise<number> => {
    const removals = await removalsOf({
      cluster,
      nodeName,
      client: new KubeClient({ connection: local, userAgent }),
      tools: systemTools(),
      remotes: settings.remotes,
      keyFolder,
      onNoNode: () => print(pageOf([`There is no Node ${nodeName}, so there are no annotations to remove.`])),
      ...run,
    });
    const consequence =
      'Pods of this node and of the cluster will not reach each other. A running agent with the cluster in its config undoes it.';
    return cleanUp(removals, { cluster: name, consequence, confirm, print }, run);
  };
  return withClusters({ ...references, remotes: [] }, command, run, removeAll);
}

/** What the commands need besides the app itself. */
type Parts = {
  readonly metrics: WireGuardMetrics;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  /** The metrics of the peers now. */
  readonly samples: Parameters<typeof beforeScrape>[1];
  readonly file: ConfigSource;
};

/** Connects all clusters, hands the app to `use`, and closes the connections again. */
async function withWireGuard(
  command: WireGuardCommand,
  purpose: Purpose,
  use: (wireguard: WireGuard, parts: Parts) => Promise<number>,
  run: RunOptions,
): Promise<number> {
  const { options, log, notices, userAgent } = command;
  const { file, settings, references } = readSettings(options, notices);
  const names = settings.remotes.map(({ name }) => name);
  const deviceNames = settings.remotes.map(({ device }) => device);
  const { metrics, registry } = createMetrics(metricTable, {
    remote: ['local', ...names],
    cluster: names,
    device: deviceNames,
  });
  const onRequest = ({ host, method, code }: RequestReport): void =>
    metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
  const clientOf = (connection: Connection): KubeClient =>
    new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  const staleSeconds = options.staleHandshakeMs / 1_000;
  const clock = () => ({ nowSeconds: Math.floor(Date.now() / 1_000), staleSeconds });
  const devices = systemDevices(options);
  return withClusters(references, command, run, ({ local, remotes }) => {
    const wireguard = new WireGuard({
      purpose,
      options,
      localClient: clientOf(local),
      localName: settings.local.name,
      remotes: settings.remotes,
      clientOf: (remote) => clientOf(remotes[settings.remotes.indexOf(remote)]!),
      devices,
      watchLinks,
      clock,
      log,
      metrics,
    });
    const samples = () => observeMetrics({ ...devices, deviceNames, metrics, clock, log });
    return use(wireguard, { metrics, registry, samples, file });
  });
}

/** Reads the config file. @throws {ConfigError} with all problems in it */
function readSettings({ clustersConfig: path }: WireGuardOptions, notices: Logger) {
  const file = readConfigSource(path);
  const parsed = parseClustersFile(file.content);
  const result = parsed.ok ? settingsOfFile(parsed.value) : parsed;
  if (!result.ok) throw new ConfigError(result.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of parsed.ok ? [...parsed.warnings, ...overriddenAddresses(parsed.value.remotes, 'remotes')] : [])
    notices.warn({ path }, warning);
  const settings = result.value;
  const references = {
    local: { at: `${path}: local.kubeConfigPath`, reference: settings.local.reference },
    remotes: remotesOfFile(settings.remotes, `${path}: remotes`),
  };
  return { file, settings, references };
}
