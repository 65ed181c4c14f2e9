import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import {
  cleanUp,
  cleanupConfirmation,
  overriddenAddresses,
  readConfigSource,
  remotesOfFile,
  statusPage,
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
  type ServeInput,
} from '@kube-semaphore/runtime';
import { pageOf } from '@kube-semaphore/text';
import { systemTools, watchLinks } from '@kube-semaphore/wireguard-tools';
import { removalsOf } from './cleanup.ts';
import { parseClustersFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import type { WireGuardOptions } from './config/options.ts';
import { systemDevices } from './mesh/local/device.ts';
import { observeMetrics } from './metrics/device.ts';
import { metrics as metricTable } from './metrics/metrics.ts';
import { exitCodeOf, planText } from './plan.ts';
import { statusExitCode, statusText } from './status.ts';
import { WireGuard, type WireGuardInput } from './wireguard.ts';

type WireGuardCommand = Command<WireGuardOptions>;

/** Keeps the tunnels to all remotes until `signal` is aborted. */
export async function runAgent(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input, { registry, file, isKubeconfigStale }) => {
    const wireguard = new WireGuard({ ...input, purpose: 'run' });
    beforeScrape(registry, () => observeMetrics(input));
    const health = { isLive: () => wireguard.isLive(), isReady: () => wireguard.isReady() };
    const status = async (): Promise<string> => statusPage(command, await wireguard.servedStatus());
    const { listenAddress } = command.options;
    const serving = { ...health, status, listenAddress, registry, metrics: input.metrics, file, isKubeconfigStale };
    await serve((running) => wireguard.run(running), { ...serving, version: command.version, log: command.log }, run);
    return 0;
  });
}

/** Prints what `runAgent` would change on this node, and changes nothing. */
export async function runPlan(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input) => {
    const { output, timeoutMs } = command.options;
    const plan = await new WireGuard({ ...input, purpose: 'plan' }).plan({ ...run, timeoutMs });
    command.print(output === 'json' ? plan : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Prints the peers of this node. */
export async function runStatus(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input) => {
    const { output, timeoutMs } = command.options;
    const status = await new WireGuard({ ...input, purpose: 'status' }).status({ ...run, timeoutMs });
    command.print(output === 'json' ? { remotes: status.remotes } : statusText(status));
    if (status.problem !== undefined) process.stderr.write(`semaphore-wireguard: ${status.problem}\n`);
    return statusExitCode(status);
  });
}

/** Removes what is ours from this node: of one remote, or of all. */
export async function runCleanup(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { options, warningLog, print, userAgent } = command;
  const { cleanupCluster: cluster, nodeName, wgKeyPath: keyFolder, yes } = options;
  const name = cluster ?? 'all';
  // A remote that is in the config may be cleaned up: then it is the node that goes.
  const confirm = cleanupConfirmation({ cluster: name, served: [], yes });
  const { settings, references } = readSettings(options, warningLog);
  return withClusters({ ...references, remotes: [] }, command, run, async ({ local }) => {
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
  });
}

/** What a command needs besides the input of the app. */
type Parts = {
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  readonly file: ConfigSource;
} & Pick<ServeInput, 'isKubeconfigStale'>;

/** Connects all clusters, hands the input of the app to `use`, and closes the connections again. */
async function withInput(
  { options, log, warningLog, secrets, userAgent }: WireGuardCommand,
  run: RunOptions,
  use: (input: Omit<WireGuardInput, 'purpose'>, parts: Parts) => Promise<number>,
): Promise<number> {
  const { file, settings, references } = readSettings(options, warningLog);
  const names = settings.remotes.map(({ name }) => name);
  const device = settings.remotes.map((remote) => remote.device);
  const { metrics, registry } = createMetrics(metricTable, { remote: ['local', ...names], cluster: names, device });
  const onRequest = ({ host, method, code }: RequestReport): void =>
    metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
  const clientOf = (connection: Connection): KubeClient =>
    new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  const staleSeconds = options.staleHandshakeMs / 1_000;
  return withClusters(references, { warningLog, secrets, userAgent }, run, ({ local, remotes, isKubeconfigStale }) => {
    const input = {
      options,
      localClient: clientOf(local),
      localName: settings.local.name,
      remotes: settings.remotes,
      remoteClients: remotes.map(clientOf),
      devices: systemDevices(options),
      watchLinks,
      clock: () => ({ nowSeconds: Math.floor(Date.now() / 1_000), staleSeconds }),
      log,
      metrics,
    };
    return use(input, { registry, file, isKubeconfigStale });
  });
}

/** Reads the config file. @throws {ConfigError} with all problems in it */
function readSettings({ clustersConfig: path }: WireGuardOptions, warningLog: Logger) {
  const file = readConfigSource(path);
  const parsed = parseClustersFile(file.content);
  const result = parsed.ok ? settingsOfFile(parsed.value) : parsed;
  if (!result.ok) throw new ConfigError(result.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of parsed.ok ? [...parsed.warnings, ...overriddenAddresses(parsed.value.remotes, 'remotes')] : [])
    warningLog.warn({ path }, warning);
  const settings = result.value;
  const references = {
    local: { at: `${path}: local.kubeConfigPath`, reference: settings.local.reference },
    remotes: remotesOfFile(settings.remotes, `${path}: remotes`),
  };
  return { file, settings, references };
}
