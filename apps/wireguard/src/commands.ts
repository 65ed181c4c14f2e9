import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import {
  admit,
  changedFields,
  cleanUp,
  cleanupConfirmation,
  type Clusters,
  LiveConfig,
  overriddenAddresses,
  type Inventory,
  invalidConfig,
  openInventory,
  type ProfileRemote,
  readConfigSource,
  Remotes,
  remotesOfFile,
  statusPage,
  warnOfConfig,
  withClusters,
} from '@kube-semaphore/multicluster';
import {
  beforeScrape,
  type Command,
  type ConfigSource,
  createMetrics,
  type Logger,
  serve,
} from '@kube-semaphore/runtime';
import { pageOf } from '@kube-semaphore/text';
import { systemTools, watchLinks } from '@kube-semaphore/wireguard-tools';
import { removalsOf } from './cleanup.ts';
import { type ClustersFile, parseClustersFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import type { WireGuardOptions } from './config/options.ts';
import type { RemoteSettings, Settings } from './config/settings.ts';
import { systemDevices } from './mesh/local/device.ts';
import { observeMetrics } from './metrics/device.ts';
import { metrics as metricTable } from './metrics/metrics.ts';
import { exitCodeOf, planText } from './plan.ts';
import { rotate } from './rotation/rotate.ts';
import { statusExitCode, statusText } from './status.ts';
import { WireGuard, type WireGuardInput } from './wireguard.ts';

type WireGuardCommand = Command<WireGuardOptions>;

/** Keeps the tunnels to all remotes until `signal` is aborted. */
export async function runAgent(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input, { config, registry, clusters }) => {
    const { log, version } = command;
    const wireguard = new WireGuard({ ...input, purpose: 'run' });
    const live = liveConfigOf(command, { config, wireguard, inventory: input.inventory });
    beforeScrape(registry, () => observeMetrics(input));
    const status = async (): Promise<string> =>
      statusPage(command, {
        ...(await wireguard.servedStatus()),
        configFile: live.status(),
        ...(input.inventory && { inventory: input.inventory.status() }),
      });
    await serve(
      (running) => Promise.all([wireguard.run(running), live.run(running)]),
      {
        isLive: () => wireguard.isLive(),
        isReady: () => wireguard.isReady(),
        isConfigStale: async () => live.isStale || (await clusters.isKubeconfigStale()),
        status,
        listenAddress: command.options.listenAddress,
        registry,
        metrics: input.metrics,
        version,
        log,
      },
      run,
    );
    return 0;
  });
}

type Started = {
  readonly config: Config;
  readonly wireguard: WireGuard;
  readonly inventory?: Inventory | undefined;
};

/** Puts the remotes of a changed file or inventory in force. */
function liveConfigOf({ log }: WireGuardCommand, { config, wireguard, inventory }: Started): LiveConfig {
  return new LiveConfig({
    file: config.file,
    inventory,
    apply: async (file, running) => {
      const next = configOf(file);
      const { settings, refused } = await admit(inventory?.remotes ?? [], onNode(next, wireguard, running));
      if (!settings.ok) throw invalidConfig(file, settings.problems);
      const changes = await wireguard.replaceRemotes(settings.value.remotes, running);
      inventory?.inForce(refused);
      return { changes, needRestart: changedFields(config.fixed, next.fixed), warnings: next.warnings };
    },
    log,
  });
}

/** What a file says with remotes of its inventory: these must also work on this node, as a problem of it would stop the agent. */
function onNode(
  { settings, settingsWith }: Config,
  wireguard: WireGuard,
  run: RunOptions,
): (more: readonly ProfileRemote[]) => Promise<ReturnType<typeof settingsOfFile>> {
  let known: Promise<readonly string[]> | undefined;
  return async (more) => {
    const found = settingsWith(more);
    if (!found.ok || more.length === 0) return found;
    const ofFile = await (known ??= wireguard.problemsOf(settings.remotes, run));
    const problems = (await wireguard.problemsOf(found.value.remotes, run)).filter((each) => !ofFile.includes(each));
    return problems.length === 0 ? found : { ok: false, problems };
  };
}

/** Calls `use`, with the remotes of an inventory if there is one. */
const withInventory = <T>(
  command: WireGuardCommand,
  started: Started,
  run: RunOptions,
  use: () => Promise<T>,
): Promise<T> => (started.inventory === undefined ? use() : liveConfigOf(command, started).during(use, run));

/** Prints what `runAgent` would change on this node, and changes nothing. */
export async function runPlan(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input, { config }) => {
    const { output, timeoutMs } = command.options;
    const wireguard = new WireGuard({ ...input, purpose: 'plan' });
    const planned = () => wireguard.plan({ ...run, timeoutMs });
    const plan = await withInventory(command, { ...input, config, wireguard }, run, planned);
    command.print(output === 'json' ? plan : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Prints the peers of this node. */
export async function runStatus(command: WireGuardCommand, run: RunOptions): Promise<number> {
  return withInput(command, run, async (input, { config }) => {
    const { output, timeoutMs } = command.options;
    const wireguard = new WireGuard({ ...input, purpose: 'status' });
    const asked = () => wireguard.status({ ...run, timeoutMs });
    const status = await withInventory(command, { ...input, config, wireguard }, run, asked);
    command.print(output === 'json' ? { remotes: status.remotes } : statusText(status));
    if (status.problem !== undefined) process.stderr.write(`semaphore-wireguard: ${status.problem}\n`);
    return statusExitCode(status);
  });
}

/** Has the agent replace the keys of this node, and prints the steps. */
export async function runRotate(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { options, warningLog, print } = command;
  const { cleanupCluster: cluster, wgKeyPath: folder, waitForAll: waitsForAll } = options;
  const { settings } = readConfig(options, warningLog);
  const remotes = settings.remotes.filter(({ name }) => (cluster ?? name) === name);
  await rotate(remotes, { tools: systemTools(), folder, cluster, waitsForAll, print }, run);
  return 0;
}

/** Removes what is ours from this node: of one remote, or of all. */
export async function runCleanup(command: WireGuardCommand, run: RunOptions): Promise<number> {
  const { options, warningLog, print, userAgent } = command;
  const { cleanupCluster: cluster, nodeName, wgKeyPath: keyFolder, yes } = options;
  const name = cluster ?? 'all';
  // A remote that is in the config may be cleaned up: then it is the node that goes.
  const confirm = cleanupConfirmation({ cluster: name, served: [], profiles: [], yes });
  const config = readConfig(options, warningLog);
  const { settings } = config;
  return withClusters({ ...referencesOf(config), remotes: [] }, command, run, async ({ local }) => {
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
type Parts = Pick<ReturnType<typeof createMetrics>, 'registry'> & {
  readonly config: Config;
  readonly clusters: Clusters;
};

/** Connects all clusters, hands the input of the app to `use`, and closes the connections again. */
async function withInput(
  { options, log, warningLog, secrets, userAgent }: WireGuardCommand,
  run: RunOptions,
  use: (input: Omit<WireGuardInput, 'purpose'>, parts: Parts) => Promise<number>,
): Promise<number> {
  const config = readConfig(options, warningLog);
  const { settings } = config;
  const labelsOf = (remotes: readonly RemoteSettings[]) => {
    const names = remotes.map(({ name }) => name);
    return { remote: names, cluster: names, device: remotes.map(({ device }) => device) };
  };
  const { metrics, registry, series } = createMetrics(metricTable, labelsOf(settings.remotes));
  series.begin({ remote: ['local'] });
  const onRequest = ({ host, method, code }: RequestReport): void =>
    metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
  const clientOf = (connection: Connection): KubeClient =>
    new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
  const staleSeconds = options.staleHandshakeMs / 1_000;
  const references = referencesOf(config);
  return withClusters(references, { warningLog, secrets, userAgent }, run, async ({ local, remotes, clusters }) => {
    const localClient = clientOf(local);
    const inventory = await openInventory(config.fixed.remotesFrom, {
      options,
      client: localClient,
      localName: settings.local.name,
      metrics,
      log,
      secrets,
    });
    const input = {
      options,
      localClient,
      inventory,
      localName: settings.local.name,
      remotes: new Remotes({
        settings: settings.remotes,
        connections: remotes,
        clusters,
        references: (next) => remotesOfFile(next, `${config.file.path}: remotes`),
        clientOf,
        series: {
          begin: (remote) => series.begin(labelsOf([remote])),
          end: (remote) => series.end(labelsOf([remote])),
        },
        metrics,
        log,
        holdMs: options.deletionGuardHoldMs,
      }),
      devices: systemDevices(options),
      watchLinks,
      clock: () => ({ nowSeconds: Math.floor(Date.now() / 1_000), staleSeconds }),
      log,
      metrics,
    };
    return use(input, { config, registry, clusters });
  });
}

type Config = {
  readonly file: ConfigSource;
  readonly settings: Settings;
  /** What takes effect at a start only. */
  readonly fixed: Omit<ClustersFile, 'remotes'>;
  /** What the file says with remotes of its inventory. */
  readonly settingsWith: (remotes: readonly ProfileRemote[]) => ReturnType<typeof settingsOfFile>;
  readonly warnings: readonly string[];
};

/** @throws {ConfigError} with all problems of the file */
function readConfig({ clustersConfig }: WireGuardOptions, warningLog: Logger): Config {
  const config = configOf(readConfigSource(clustersConfig));
  warnOfConfig(config.file, config.warnings, warningLog);
  return config;
}

/** @throws {ConfigError} with all problems of the file */
function configOf(file: ConfigSource): Config {
  const parsed = parseClustersFile(file.content);
  if (!parsed.ok) throw invalidConfig(file, parsed.problems);
  const settingsWith = (more: readonly ProfileRemote[]) => settingsOfFile(parsed.value, more);
  const settings = settingsWith([]);
  if (!settings.ok) throw invalidConfig(file, settings.problems);
  const { remotes, ...fixed } = parsed.value;
  const warnings = [...parsed.warnings, ...overriddenAddresses(remotes, 'remotes')];
  return { file, settings: settings.value, fixed, settingsWith, warnings };
}

/** The local cluster and the remotes, each with the field that names it. */
const referencesOf = ({ file: { path }, settings: { local, remotes } }: Config) => ({
  local: { at: `${path}: local.kubeConfigPath`, reference: local.reference },
  remotes: remotesOfFile(remotes, `${path}: remotes`),
});
