import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import { SoleLeader } from '@kube-semaphore/leader-election';
import {
  admit,
  changedFields,
  cleanUp,
  cleanupConfirmation,
  type Clusters,
  confirmation,
  type InventorySettings,
  leadershipOf,
  listProfiles,
  LiveConfig,
  localReference,
  overriddenAddresses,
  parseConfigFile,
  type Inventory,
  invalidConfig,
  openInventory,
  type ProfileRemote,
  readConfigSource,
  remoteOfFlags,
  Remotes,
  remotesOfFile,
  statusPage,
  warnOfConfig,
  withClusters,
  writeIfConfirmed,
} from '@kube-semaphore/multicluster';
import { spellingOf } from '@kube-semaphore/options';
import { pageOf } from '@kube-semaphore/text';
import { type Command, type ConfigSource, createMetrics, serve } from '@kube-semaphore/runtime';
import { removalsOf } from './cleanup.ts';
import { type ConfigFile, configFileSchema } from './config/file.ts';
import { options as table, type PolicyOptions } from './config/options.ts';
import { type RemoteSettings, type Settings, settingsOfFile, settingsOfOptions } from './config/settings.ts';
import { namespaceLabelWrites } from './label-namespaces.ts';
import { metrics as metricTable } from './metrics.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { Policy, type PolicyInput } from './policy.ts';

type PolicyCommand = Command<PolicyOptions>;

/** Keeps the sets of all remotes until `signal` is aborted. */
export async function runPolicy(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const config = readConfig(command);
  const leaseName = leaseNameOf(config);
  return withClients(command, config, run, async ({ registry, clusters, ...input }) => {
    const { client, metrics } = input;
    const leadership = leadershipOf(options, { client, leaseName, prefix: 'SP', log, metrics });
    const policy = new Policy({ ...input, leadership });
    const health = { isLive: () => policy.isLive(), isReady: () => policy.isReady() };
    const { inventory } = input;
    const live = config.file && liveConfigOf(command, { config, file: config.file, policy, inventory });
    const status = (): string =>
      statusPage(command, {
        ...policy.status(),
        ...(live && { configFile: live.status() }),
        ...(inventory && { inventory: inventory.status() }),
      });
    const { listenAddress } = options;
    const server = {
      ...health,
      status,
      listenAddress,
      registry,
      metrics,
      isConfigStale: async () => live?.isStale === true || (await clusters.isKubeconfigStale()),
      version,
      log,
    };
    await serve((running) => Promise.all([policy.run(running), live?.run(running)]), server, run);
    return 0;
  });
}

/** The name of the Lease without `-lease-name`: of two processes with other remotes in their files, each has its own. */
const leaseNameOf = ({ settings, remotesFrom }: Config): string => {
  const names = settings.remotes.map(({ name }) => name).toSorted();
  return ['semaphore-policy', ...names, ...(remotesFrom === undefined ? [] : ['inventory'])].join('-');
};

type Started = {
  readonly config: Config;
  readonly file: ConfigSource;
  readonly policy: Policy;
  readonly inventory: Inventory | undefined;
};

function liveConfigOf(command: PolicyCommand, { config, file, policy, inventory }: Started): LiveConfig {
  const { leaderElect, leaseName } = command.options;
  const ownsName = leaderElect && leaseName === undefined;
  let inForce = config;
  return new LiveConfig({
    file,
    inventory,
    apply: async (source) => {
      const next = configOf(command.options, source);
      // With one Lease under the old name and one under the new, two replicas could lead.
      const isOtherLease = ownsName && leaseNameOf(next) !== leaseNameOf(config);
      const used = isOtherLease ? inForce : next;
      const { settings, refused } = await admit(inventory?.remotes ?? [], used.settingsWith);
      if (!settings.ok) throw invalidConfig(source, settings.problems);
      const changes = await policy.replaceRemotes(settings.value.remotes);
      inForce = used;
      inventory?.inForce(refused);
      const needRestart = [...changedFields(config.fixed, next.fixed), ...(isOtherLease ? [NAMES_IN_LEASE] : [])];
      return { changes, needRestart, warnings: next.warnings };
    },
    log: command.log,
  });
}

const NAMES_IN_LEASE = 'remotes (without -lease-name, their names are the name of the Lease)';

/** Prints what `runPolicy` would write, and writes nothing. */
export async function runPlan(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, print } = command;
  const config = readConfig(command);
  return withClients(command, config, run, async (input) => {
    const policy = new Policy({ ...input, leadership: new SoleLeader() });
    const { inventory } = input;
    const planned = () => policy.plan({ ...run, timeoutMs: options.timeoutMs });
    const plan =
      inventory === undefined
        ? await planned()
        : await liveConfigOf(command, { config, file: config.file!, policy, inventory }).during(planned, run);
    print(options.output === 'json' ? planJson(plan) : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Removes the sets of a cluster that is no longer in the config. */
export async function runCleanup(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, print, userAgent, log } = command;
  const cluster = options.cleanupCluster!;
  const { served, inventory } = servedClusters(command);
  const local = { at: spellingOf(table.localKubeConfig), reference: localReference(options.localKubeConfig) };
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
    const profiles = await listProfiles(client, inventory, run);
    const confirm = cleanupConfirmation({ cluster, served, profiles, yes: options.yes });
    const removals = await removalsOf({ cluster, options, client, log }, run);
    const consequence = 'Policies that select its sets, or name it, will match nothing of it.';
    return cleanUp(removals, { cluster, consequence, confirm, print }, run);
  });
}

/** Gives the cluster label to local Namespaces, with the rights of its caller: the controller may not do this. */
export async function runLabelNamespaces(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, print, userAgent } = command;
  const { clusterSetKey: key, localClusterName, overwrite } = options;
  // A remote must not have the same value, which `-network-policies` demands.
  if (options.config !== undefined) readConfig({ ...command, options: { ...options, networkPolicies: true } });
  const confirm = confirmation('label-namespaces', options);
  const value = localClusterName!;
  const local = { at: spellingOf(table.localKubeConfig), reference: localReference(options.localKubeConfig) };
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
    const { writes, skipped } = await namespaceLabelWrites(client, { key, value, overwrite }, run);
    if (skipped.length > 0) print(pageOf(skipped));
    const question = `Label these ${writes.length} namespaces? NetworkPolicies that name ${key} then select them.`;
    const dialogue = { nothing: 'No namespace to label.', question, done: 'Labelled.', confirm, print };
    const code = await writeIfConfirmed(writes, dialogue, run);
    return skipped.length > 0 ? 1 : code;
  });
}

/** The remotes in the config, and its inventory; a cleanup works without any. */
function servedClusters(command: PolicyCommand): {
  readonly served: readonly string[];
  readonly inventory?: InventorySettings | undefined;
} {
  const { config, targetClusterName } = command.options;
  if (config === undefined) return { served: targetClusterName === undefined ? [] : [targetClusterName] };
  const { settings, remotesFrom } = readConfig(command);
  return { served: settings.remotes.map(({ name }) => name), inventory: remotesFrom?.clusterProfiles };
}

/** What serving needs besides the app. */
type Served = Pick<ReturnType<typeof createMetrics>, 'registry'> & { readonly clusters: Clusters };

const labelsOf = ({ name }: RemoteSettings) => ({ remote: [name], cluster: [name] });

/** Calls `use` with a client of each cluster, whose connections it closes afterwards. */
function withClients(
  command: PolicyCommand,
  { settings, remotesFrom }: Config,
  run: RunOptions,
  use: (input: Omit<PolicyInput, 'leadership'> & Served) => Promise<number>,
): Promise<number> {
  const { options, given, log, userAgent } = command;
  const references = clustersOf(settings, options);
  return withClusters(references, command, run, async ({ local, remotes, clusters }) => {
    const { metrics, registry, series } = createMetrics(metricTable);
    series.begin({ remote: ['local', ...settings.remotes.map(({ name }) => name)] });
    const onRequest = ({ verb, resource, code }: RequestReport): void => {
      if (resource !== 'globalnetworksets' || verb === 'get') return;
      metrics.calicoRequests.inc({ type: verb, success: code.startsWith('2') ? '1' : '0' });
    };
    const client = new KubeClient({ connection: local, userAgent, onRequest });
    const inventory = await openInventory(remotesFrom, {
      options,
      client,
      localName: options.localClusterName,
      metrics,
      log,
      secrets: command.secrets,
    });
    return use({
      options,
      localCidrs: settings.localCidrs,
      hostNetworkPods: given.has('hostNetworkPods') ? options.hostNetworkPods : 'retain',
      client,
      inventory,
      remotes: new Remotes({
        settings: settings.remotes,
        connections: remotes,
        clusters,
        references: (next) => remotesOfFile(next, `${options.config!}: remotes`),
        clientOf: (connection) => new KubeClient({ connection, userAgent, encoding: options.encoding }),
        series: {
          begin: (remote) => series.begin(labelsOf(remote)),
          end: (remote) => series.end(labelsOf(remote)),
        },
        metrics,
        log,
        holdMs: options.deletionGuardHoldMs,
      }),
      log,
      metrics,
      registry,
      clusters,
    });
  });
}

/** The local cluster and the remotes, each with the flag or field that names it. */
function clustersOf({ local, remotes }: Settings, { config, localKubeConfig }: PolicyOptions) {
  const isLocalFlag = config === undefined || localKubeConfig !== undefined;
  const at = isLocalFlag ? spellingOf(table.localKubeConfig) : `${config}: local.kubeConfigPath`;
  const others =
    config === undefined
      ? remotes.map((remote) => remoteOfFlags(remote, spellingOf(table.targetKubeConfig)))
      : remotesOfFile(remotes, `${config}: remotes`);
  return { local: { at, reference: local }, remotes: others };
}

/** What the flags say, or a config file. */
type Config = {
  readonly settings: Settings;
  /** Undefined: the flags say it all. */
  readonly file: ConfigSource | undefined;
  /** Of the file: what takes effect at a start only. */
  readonly fixed: object;
  readonly remotesFrom?: ConfigFile['remotesFrom'];
  /** What the file says with remotes of its inventory. */
  readonly settingsWith: (remotes: readonly ProfileRemote[]) => ReturnType<typeof settingsOfFile>;
  readonly warnings: readonly string[];
};

/** @throws {ConfigError} with every problem of the file */
function readConfig(command: PolicyCommand): Config {
  const { options, warningLog } = command;
  if (options.config === undefined) {
    const settings = settingsOfOptions(options);
    return { settings, file: undefined, fixed: {}, settingsWith: () => ({ ok: true, value: settings }), warnings: [] };
  }
  const file = readConfigSource(options.config);
  const config = configOf(options, file);
  warnOfConfig(file, config.warnings, warningLog);
  return config;
}

/** @throws {ConfigError} with every problem of the file */
function configOf(options: PolicyOptions, file: ConfigSource): Config {
  const parsed = parseConfigFile(file.content, configFileSchema, { unknownKeys: 'error' });
  if (!parsed.ok) throw invalidConfig(file, parsed.problems);
  const settingsWith = (more: readonly ProfileRemote[]) => settingsOfFile(parsed.value, options, more);
  const settings = settingsWith([]);
  if (!settings.ok) throw invalidConfig(file, settings.problems);
  // A flag overrides what the file says of the local cluster.
  const local = {
    ...(options.localKubeConfig === undefined && { kubeConfigPath: parsed.value.local?.kubeConfigPath }),
    ...(options.localCidrs === undefined && { cidrs: parsed.value.local?.cidrs }),
  };
  const warnings = overriddenAddresses(parsed.value.remotes, 'remotes');
  const { remotesFrom } = parsed.value;
  const fixed = { local, ...(remotesFrom && { remotesFrom }) };
  return { settings: settings.value, file, fixed, remotesFrom, settingsWith, warnings };
}
