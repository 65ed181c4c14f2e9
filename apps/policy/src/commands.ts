import type { Connection } from '@kube-semaphore/cluster-auth';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import { SoleLeader } from '@kube-semaphore/leader-election';
import {
  changedFields,
  cleanUp,
  cleanupConfirmation,
  type Clusters,
  confirmation,
  leadershipOf,
  LiveConfig,
  localReference,
  overriddenAddresses,
  parseConfigFile,
  readConfigSource,
  remoteOfFlags,
  remotesOfFile,
  statusPage,
  withClusters,
  writeIfConfirmed,
} from '@kube-semaphore/multicluster';
import { spellingOf } from '@kube-semaphore/options';
import { pageOf } from '@kube-semaphore/text';
import { type Command, ConfigError, type ConfigSource, createMetrics, serve } from '@kube-semaphore/runtime';
import { removalsOf } from './cleanup.ts';
import { configFileSchema } from './config/file.ts';
import { options as table, type PolicyOptions } from './config/options.ts';
import { type Settings, settingsOfFile, settingsOfOptions } from './config/settings.ts';
import { namespaceLabelWrites } from './label-namespaces.ts';
import { metrics as metricTable } from './metrics.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { Policy, type PolicyInput } from './policy.ts';

type PolicyCommand = Command<PolicyOptions>;

/** Keeps the sets of all remotes until `signal` is aborted. */
export async function runPolicy(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const config = readConfig(command);
  const names = config.settings.remotes.map(({ name }) => name).toSorted();
  const leaseName = `semaphore-policy-${names.join('-')}`;
  return withClients(command, config, run, async ({ registry, clusters, ...input }) => {
    const { local: client, metrics } = input;
    const leadership = leadershipOf(options, { client, leaseName, prefix: 'SP', log, metrics });
    const policy = new Policy({ ...input, leadership });
    const health = { isLive: () => policy.isLive(), isReady: () => policy.isReady() };
    const live = config.file && liveConfigOf(command, config.file);
    const status = (): string =>
      statusPage(command, { ...policy.status(), ...(live && { configFile: live.status() }) });
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

/** Says which fields of a changed file take effect at the next start: all of them. */
function liveConfigOf(command: PolicyCommand, file: ConfigSource): LiveConfig {
  const documentOf = ({ content }: ConfigSource): object => {
    const parsed = parseConfigFile(content, configFileSchema, { unknownKeys: 'error' });
    return parsed.ok ? parsed.value : {};
  };
  const start = documentOf(file);
  return new LiveConfig({
    file,
    apply: (source) => {
      settingsOf(command, source);
      const needRestart = changedFields(start, documentOf(source));
      return Promise.resolve({ changes: { added: [], removed: [], changed: [] }, needRestart });
    },
    log: command.log,
  });
}

/** Prints what `runPolicy` would write, and writes nothing. */
export async function runPlan(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, print } = command;
  return withClients(command, readConfig(command), run, async (input) => {
    const policy = new Policy({ ...input, leadership: new SoleLeader() });
    const plan = await policy.plan({ ...run, timeoutMs: options.timeoutMs });
    print(options.output === 'json' ? planJson(plan) : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Removes the sets of a cluster that is no longer in the config. */
export async function runCleanup(command: PolicyCommand, run: RunOptions): Promise<number> {
  const { options, print, userAgent, log } = command;
  const cluster = options.cleanupCluster!;
  const confirm = cleanupConfirmation({ cluster, served: servedClusters(command), yes: options.yes });
  const local = { at: spellingOf(table.localKubeConfig), reference: localReference(options.localKubeConfig) };
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
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

/** The remotes in the config; a cleanup works without any. */
function servedClusters(command: PolicyCommand): readonly string[] {
  const { config, targetClusterName } = command.options;
  if (config !== undefined) return readConfig(command).settings.remotes.map(({ name }) => name);
  return targetClusterName === undefined ? [] : [targetClusterName];
}

/** What serving needs besides the app. */
type Served = Pick<ReturnType<typeof createMetrics>, 'registry'> & { readonly clusters: Clusters };

/** Calls `use` with a client of each cluster, whose connections it closes afterwards. */
function withClients(
  command: PolicyCommand,
  { settings }: Config,
  run: RunOptions,
  use: (input: Omit<PolicyInput, 'leadership'> & Served) => Promise<number>,
): Promise<number> {
  const { options, given, log, userAgent } = command;
  return withClusters(clustersOf(settings, options), command, run, ({ local, remotes, clusters }) => {
    const remote = ['local', ...settings.remotes.map(({ name }) => name)];
    const { metrics, registry } = createMetrics(metricTable, { remote });
    const onRequest = ({ verb, resource, code }: RequestReport): void => {
      if (resource !== 'globalnetworksets' || verb === 'get') return;
      metrics.calicoRequests.inc({ type: verb, success: code.startsWith('2') ? '1' : '0' });
    };
    const clientOf = (connection: Connection): KubeClient =>
      new KubeClient({ connection, userAgent, encoding: options.encoding });
    return use({
      options,
      settings,
      hostNetworkPods: given.has('hostNetworkPods') ? options.hostNetworkPods : 'retain',
      local: new KubeClient({ connection: local, userAgent, onRequest }),
      remotes: remotes.map(clientOf),
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

/** The settings, and the config file that they are from, if there is one. */
type Config = { readonly settings: Settings; readonly file: ConfigSource | undefined };

/** @throws {ConfigError} with every problem of the file */
function readConfig(command: PolicyCommand): Config {
  const { options } = command;
  if (options.config === undefined) return { settings: settingsOfOptions(options), file: undefined };
  const file = readConfigSource(options.config);
  return { settings: settingsOf(command, file), file };
}

function settingsOf({ options, warningLog }: PolicyCommand, { path, content }: ConfigSource): Settings {
  const parsed = parseConfigFile(content, configFileSchema, { unknownKeys: 'error' });
  const settings = parsed.ok ? settingsOfFile(parsed.value, options) : parsed;
  if (!settings.ok) throw new ConfigError(settings.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of parsed.ok ? overriddenAddresses(parsed.value.remotes, 'remotes') : [])
    warningLog.warn({ path }, warning);
  return settings.value;
}
