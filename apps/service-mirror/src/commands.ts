import { accessSync, constants } from 'node:fs';
import { type Command, ConfigError, type ConfigSource, createMetrics, serve } from '@kube-semaphore/runtime';
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
  type NamedReference,
  type Inventory,
  invalidConfig,
  openInventory,
  readConfigSource,
  remoteOfFlags,
  Remotes,
  remotesOfFile,
  statusPage,
  warnOfConfig,
  withClusters,
  writeIfConfirmed,
} from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { SoleLeader } from '@kube-semaphore/leader-election';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import { spellingOf } from '@kube-semaphore/options';
import { importRemovalsOf, removalsOf } from './cleanup.ts';
import { type ConfigFile, parseMirrorFile } from './config/file.ts';
import { settingsOfFile, type BesideFile } from './config/file-settings.ts';
import { metrics as metricTable } from './metrics/metrics.ts';
import { labelsOfRemotes } from './metrics/series.ts';
import { type MirrorOptions, options as table } from './config/options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { ServiceMirror, type ServiceMirrorInput } from './service-mirror.ts';
import { type AllSettings, type RemoteSettings, settingsOfOptions, UNNAMED } from './config/settings.ts';

type MirrorCommand = Command<MirrorOptions>;

/** Mirrors the Services of all remotes until `signal` is aborted. */
export async function runMirror(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const config = readConfig(command);
  const leaseName = `semaphore-service-mirror-${options.svcPrefix ?? config.settings.local.name}`;
  return withClients(command, { config, run }, async ({ registry, clusters, ...input }) => {
    const { local: client, metrics } = input;
    const leadership = leadershipOf(options, { client, leaseName, prefix: 'SSM', log, metrics });
    const mirror = new ServiceMirror({ ...input, leadership });
    const { isLive, isReady } = mirror;
    const { inventory } = input;
    const live = config.file && liveConfigOf(command, config.file, { mirror, inventory });
    const status = async (): Promise<string> =>
      statusPage(command, {
        ...(await mirror.status()),
        ...(live && { configFile: live.status() }),
        ...(inventory && { inventory: inventory.status() }),
      });
    const { listenAddress } = options;
    const isConfigStale = async () => live?.isStale === true || (await clusters.isKubeconfigStale());
    const health = { isLive, isReady, status, listenAddress, registry, metrics, isConfigStale, version, log };
    await serve((running) => Promise.all([mirror.run(running), live?.run(running)]), health, run);
    return 0;
  });
}

/** Puts the remotes of a changed file or inventory in force, beside what the file said of all else at the start. */
function liveConfigOf(
  { options, log }: MirrorCommand,
  { source, content }: MirrorFile,
  {
    mirror,
    inventory,
  }: { readonly mirror: Pick<ServiceMirror, 'replaceRemotes'>; readonly inventory: Inventory | undefined },
): LiveConfig {
  const { remoteClusters: _, ...fixed } = content;
  return new LiveConfig({
    file: source,
    inventory,
    apply: async (changed) => {
      const { warnings, file } = configOf(changed, options);
      const { remoteClusters, ...others } = file.content;
      const { settings, refused } = await admit(inventory?.remotes ?? [], (more) =>
        settingsOfFile({ ...fixed, remoteClusters }, besideFile(options), more),
      );
      if (!settings.ok)
        throw invalidConfig(
          changed,
          settings.problems.map((problem) => `${problem} until a restart`),
        );
      const changes = await mirror.replaceRemotes(settings.value.remotes);
      inventory?.inForce(refused);
      return { changes, needRestart: changedFields(fixed, others), warnings };
    },
    log,
  });
}

/** Prints what `runMirror` would write, and writes nothing. */
export async function runPlan(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, print } = command;
  const config = readConfig(command);
  return withClients(command, { config, run }, async (input) => {
    const mirror = new ServiceMirror({ ...input, leadership: new SoleLeader() });
    const { inventory } = input;
    const planned = () => mirror.plan({ ...run, timeoutMs: options.timeoutMs });
    const plan =
      inventory === undefined
        ? await planned()
        : await liveConfigOf(command, config.file!, { mirror, inventory }).during(planned, run);
    print(options.output === 'json' ? planJson(plan) : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Removes the objects of a cluster that is no longer in the config, or those of Multi-Cluster Services. */
export async function runCleanup(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, print, userAgent } = command;
  const { local, namespace, served, inventory, hasMcs } = cleanupPlace(command);
  if (options.cleanupMcs) return runMcsCleanup(command, { local, hasMcs }, run);
  const cluster = options.cleanupCluster!;
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
    const profiles = await listProfiles(client, inventory, run);
    const confirm = cleanupConfirmation({ cluster, served, profiles, yes: options.yes });
    const others = [...served, ...profiles.map((each) => each.cluster)];
    const removals = [
      ...(await removalsOf({ client, namespace, cluster, served: others }, run)),
      ...(hasMcs ? await importRemovalsOf({ client, cluster }, run) : []),
    ];
    const consequence = 'Clients of these Services no longer reach its endpoints.';
    return cleanUp(removals, { cluster, consequence, confirm, print }, run);
  });
}

async function runMcsCleanup(
  command: MirrorCommand,
  { local, hasMcs }: Pick<CleanupPlace, 'local' | 'hasMcs'>,
  run: RunOptions,
): Promise<number> {
  const { options, print, userAgent } = command;
  if (hasMcs) throw new ConfigError('mcs is in the config: remove it there, restart the program, then clean up');
  const confirm = confirmation('cleanup', { yes: options.yes });
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
    const removals = await importRemovalsOf({ client, cluster: undefined }, run);
    const words = {
      nothing: 'Nothing to remove of Multi-Cluster Services.',
      question: `Make these ${removals.length} changes? Names in clusterset.local no longer lead anywhere.`,
      done: 'Cleaned up Multi-Cluster Services.',
    };
    return writeIfConfirmed(removals, { ...words, confirm, print }, run);
  });
}

/** The mirror namespace, and the names and prefixes of the clusters whose objects a cleanup leaves alone. */
type CleanupPlace = {
  readonly local: NamedReference;
  readonly namespace: string;
  readonly served: readonly string[];
  /** Has more such clusters; undefined: the config names none. */
  readonly inventory: InventorySettings | undefined;
  /** Whether a config file has Multi-Cluster Services. */
  readonly hasMcs: boolean;
};

function cleanupPlace(command: MirrorCommand): CleanupPlace {
  const { options } = command;
  if (options.config === undefined) {
    const local = localOf(localReference(options.kubeConfig), options);
    const served = options.svcPrefix === undefined ? [] : [options.svcPrefix];
    return { local, namespace: options.mirrorNs!, served, inventory: undefined, hasMcs: false };
  }
  const { settings, file } = readConfig(command);
  const { local, mirrorNamespace: namespace, remotes, mcs } = settings;
  const served = [local.name, ...remotes.flatMap(({ name, prefix }) => [name, prefix])];
  const inventory = file?.content.remotesFrom?.clusterProfiles;
  return { local: localOf(local.reference, options), namespace, served, inventory, hasMcs: mcs !== undefined };
}

type Parts = Omit<ServiceMirrorInput, 'leadership'> &
  Pick<ReturnType<typeof createMetrics>, 'registry'> & { readonly clusters: Clusters };

/** Connects to all clusters, with requests counted, for as long as `use` runs. */
function withClients(
  command: MirrorCommand,
  { config, run }: { readonly config: Config; readonly run: RunOptions },
  use: (parts: Parts) => Promise<number>,
): Promise<number> {
  const { options, log, userAgent } = command;
  const { remotes: settingsOfRemotes, ...settings } = config.settings;
  const local = localOf(settings.local.reference, options);
  const references = { local, remotes: referencesOf(settingsOfRemotes, options) };
  return withClusters(references, command, run, async ({ local: connection, remotes: connections, clusters }) => {
    const { metrics, registry, series } = createMetrics(
      metricTable,
      labelsOfRemotes(settingsOfRemotes.map(({ name }) => name)),
    );
    series.begin({ remote: ['local'] });
    const onRequest = ({ host, method, code, seconds }: RequestReport): void => {
      metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
      metrics.kubeRequestDuration.observe({ host, method }, seconds);
    };
    const clientOf = (each: Connection): KubeClient =>
      new KubeClient({ connection: each, userAgent, encoding: options.encoding, onRequest });
    const remotes = new Remotes({
      settings: settingsOfRemotes,
      connections,
      clusters,
      references: (next) => referencesOf(next, options),
      clientOf,
      series: {
        begin: ({ name }) => series.begin(labelsOfRemotes([name])),
        end: ({ name }) => series.end(labelsOfRemotes([name])),
      },
      metrics,
      log,
      holdMs: options.deletionGuardHoldMs,
    });
    const client = clientOf(connection);
    const { remotesFrom } = config.file?.content ?? {};
    const inventory = await openInventory(remotesFrom, {
      options,
      client,
      localName: settings.local.name === UNNAMED ? undefined : settings.local.name,
      metrics,
      log,
      secrets: command.secrets,
    });
    return use({ options, settings, log, metrics, registry, clusters, local: client, remotes, inventory });
  });
}

/** The remotes, each with the flag or field that names it. */
const referencesOf = (remotes: readonly RemoteSettings[], { config }: MirrorOptions): readonly NamedReference[] =>
  config === undefined
    ? remotes.map((remote) => remoteOfFlags(remote, spellingOf(table.targetKubeConfig)))
    : remotesOfFile(remotes, `${config}: remoteClusters`);

function localOf(reference: NamedReference['reference'], { config, kubeConfig }: MirrorOptions): NamedReference {
  const isFlag = config === undefined || kubeConfig !== undefined;
  return { at: isFlag ? spellingOf(table.kubeConfig) : `${config}: localCluster.kubeConfigPath`, reference };
}

/** A config file as it was read, and what is in it. */
type MirrorFile = { readonly source: ConfigSource; readonly content: ConfigFile };

/** What flags, or a file, say at one time. */
type Config = { readonly settings: AllSettings; readonly file?: MirrorFile };

/** @throws {ConfigError} with all problems in the file */
function readConfig({ options, warningLog }: MirrorCommand): Config {
  if (options.config === undefined) return { settings: settingsOfOptions(options) };
  const { warnings, ...config } = configOf(readConfigSource(options.config), options);
  warnOfConfig(config.file.source, warnings, warningLog);
  return config;
}

function configOf(
  source: ConfigSource,
  options: MirrorOptions,
): Required<Config> & { readonly warnings: readonly string[] } {
  const parsed = parseMirrorFile(source.content);
  if (!parsed.ok) throw invalidConfig(source, parsed.problems);
  const settings = settingsOfFile(parsed.value, besideFile(options));
  if (!settings.ok) throw invalidConfig(source, settings.problems);
  const warnings = [...parsed.warnings, ...settings.warnings];
  return { settings: settings.value, file: { source, content: parsed.value }, warnings };
}

const besideFile = (options: MirrorOptions): BesideFile => ({
  options,
  isPod: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
  canRead,
});

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // The reason doesn't matter: the caller has a fallback.
    return false;
  }
}
