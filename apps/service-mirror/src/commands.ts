import { accessSync, constants } from 'node:fs';
import { type Command, ConfigError, createMetrics, type Logger, serve } from '@kube-semaphore/runtime';
import {
  changedFields,
  cleanUp,
  cleanupConfirmation,
  type Clusters,
  confirmation,
  leadershipOf,
  LiveConfig,
  localReference,
  type NamedReference,
  readConfigSource,
  remoteOfFlags,
  remotesOfFile,
  statusPage,
  withClusters,
  writeIfConfirmed,
} from '@kube-semaphore/multicluster';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { SoleLeader } from '@kube-semaphore/leader-election';
import { KubeClient, type RequestReport, type RunOptions } from '@kube-semaphore/kube-client';
import { spellingOf } from '@kube-semaphore/options';
import { importRemovalsOf, removalsOf } from './cleanup.ts';
import { parseMirrorFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import { metrics as metricTable } from './metrics/metrics.ts';
import { type MirrorOptions, options as table } from './config/options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { ServiceMirror, type ServiceMirrorInput } from './service-mirror.ts';
import { type Settings, settingsOfOptions } from './config/settings.ts';

type MirrorCommand = Command<MirrorOptions>;

/** Mirrors the Services of all remotes until `signal` is aborted. */
export async function runMirror(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const { file, settings } = readSettings(command);
  const leaseName = `semaphore-service-mirror-${options.svcPrefix ?? settings.local.name}`;
  return withClients(command, { settings, run }, async ({ registry, clusters, ...input }) => {
    const { local: client, metrics } = input;
    const leadership = leadershipOf(options, { client, leaseName, prefix: 'SSM', log, metrics });
    const mirror = new ServiceMirror({ ...input, leadership });
    const { isLive, isReady } = mirror;
    const live = file && liveConfigOf(command, file);
    const status = async (): Promise<string> =>
      statusPage(command, { ...(await mirror.status()), ...(live && { configFile: live.status() }) });
    const { listenAddress } = options;
    const isConfigStale = async () => live?.isStale === true || (await clusters.isKubeconfigStale());
    const health = { isLive, isReady, status, listenAddress, registry, metrics, isConfigStale, version, log };
    await serve((running) => Promise.all([mirror.run(running), live?.run(running)]), health, run);
    return 0;
  });
}

/** Says which fields of a changed file take effect at the next start: all of them. */
function liveConfigOf({ options, log, warningLog }: MirrorCommand, file: ConfigSource): LiveConfig {
  const documentOf = ({ content }: ConfigSource): object => {
    const parsed = parseMirrorFile(content);
    return parsed.ok ? parsed.value : {};
  };
  const start = documentOf(file);
  return new LiveConfig({
    file,
    apply: (source) => {
      settingsOf(source, options, warningLog);
      const needRestart = changedFields(start, documentOf(source));
      return Promise.resolve({ changes: { added: [], removed: [], changed: [] }, needRestart });
    },
    log,
  });
}

/** Prints what `runMirror` would write, and writes nothing. */
export async function runPlan(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, print } = command;
  return withClients(command, { ...readSettings(command), run }, async (input) => {
    const mirror = new ServiceMirror({ ...input, leadership: new SoleLeader() });
    const plan = await mirror.plan({ ...run, timeoutMs: options.timeoutMs });
    print(options.output === 'json' ? planJson(plan) : planText(plan));
    return exitCodeOf(plan);
  });
}

/** Removes the objects of a cluster that is no longer in the config, or those of Multi-Cluster Services. */
export async function runCleanup(command: MirrorCommand, run: RunOptions): Promise<number> {
  const { options, print, userAgent } = command;
  const { local, namespace, served, hasMcs } = cleanupPlace(command);
  if (options.cleanupMcs) return runMcsCleanup(command, { local, hasMcs }, run);
  const cluster = options.cleanupCluster!;
  const confirm = cleanupConfirmation({ cluster, served, yes: options.yes });
  return withClusters({ local, remotes: [] }, command, run, async ({ local: connection }) => {
    const client = new KubeClient({ connection, userAgent });
    const removals = [
      ...(await removalsOf({ client, namespace, cluster, served }, run)),
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
  /** Whether a config file has Multi-Cluster Services. */
  readonly hasMcs: boolean;
};

function cleanupPlace(command: MirrorCommand): CleanupPlace {
  const { options } = command;
  if (options.config === undefined) {
    const local = localOf(localReference(options.kubeConfig), options);
    const served = options.svcPrefix === undefined ? [] : [options.svcPrefix];
    return { local, namespace: options.mirrorNs!, served, hasMcs: false };
  }
  const { local, mirrorNamespace, remotes, mcs } = readSettings(command).settings;
  const served = [local.name, ...remotes.flatMap(({ name, prefix }) => [name, prefix])];
  return { local: localOf(local.reference, options), namespace: mirrorNamespace, served, hasMcs: mcs !== undefined };
}

type Parts = Omit<ServiceMirrorInput, 'leadership'> &
  Pick<ReturnType<typeof createMetrics>, 'registry'> & { readonly clusters: Clusters };

/** Connects to all clusters, with requests counted, for as long as `use` runs. */
function withClients(
  command: MirrorCommand,
  { settings, run }: { readonly settings: Settings; readonly run: RunOptions },
  use: (parts: Parts) => Promise<number>,
): Promise<number> {
  const { options, log, userAgent } = command;
  return withClusters(clustersOf(settings, options), command, run, ({ local, remotes, clusters }) => {
    const { metrics, registry } = createMetrics(metricTable, {
      remote: ['local', ...settings.remotes.map(({ name }) => name)],
    });
    const onRequest = ({ host, method, code, seconds }: RequestReport): void => {
      metrics.kubeRequests.inc({ host, method, code: code === '' ? '<error>' : code });
      metrics.kubeRequestDuration.observe({ host, method }, seconds);
    };
    const clientOf = (connection: Connection): KubeClient =>
      new KubeClient({ connection, userAgent, encoding: options.encoding, onRequest });
    const clients = { local: clientOf(local), remotes: remotes.map(clientOf) };
    return use({ options, settings, log, metrics, registry, clusters, ...clients });
  });
}

/** The local cluster and the remotes, each with the flag or field that names it. */
function clustersOf({ local, remotes }: Settings, options: MirrorOptions) {
  const { config } = options;
  const others =
    config === undefined
      ? remotes.map((remote) => remoteOfFlags(remote, spellingOf(table.targetKubeConfig)))
      : remotesOfFile(remotes, `${config}: remoteClusters`);
  return { local: localOf(local.reference, options), remotes: others };
}

function localOf(reference: NamedReference['reference'], { config, kubeConfig }: MirrorOptions): NamedReference {
  const isFlag = config === undefined || kubeConfig !== undefined;
  return { at: isFlag ? spellingOf(table.kubeConfig) : `${config}: localCluster.kubeConfigPath`, reference };
}

type ConfigSource = ReturnType<typeof readConfigSource>;

/** The settings, and the config file as it was read, if there is one. */
function readSettings({ options, warningLog }: MirrorCommand): { settings: Settings; file: ConfigSource | undefined } {
  if (options.config === undefined) return { settings: settingsOfOptions(options), file: undefined };
  const file = readConfigSource(options.config);
  return { settings: settingsOf(file, options, warningLog), file };
}

function settingsOf({ path, content }: ConfigSource, options: MirrorOptions, warningLog: Logger): Settings {
  const file = parseMirrorFile(content);
  const isPod = process.env['KUBERNETES_SERVICE_HOST'] !== undefined;
  const settings = file.ok ? settingsOfFile(file.value, { options, isPod, canRead }) : file;
  if (!settings.ok) throw new ConfigError(settings.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of [...(file.ok ? file.warnings : []), ...settings.warnings]) warningLog.warn({ path }, warning);
  return settings.value;
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // The reason doesn't matter: the caller has a fallback.
    return false;
  }
}
