import { accessSync, constants } from 'node:fs';
import { type Command, ConfigError, createMetrics, type Logger, serve } from '@kube-semaphore/runtime';
import {
  cleanUp,
  cleanupConfirmation,
  connectAll,
  leadershipOf,
  localReference,
  type NamedReference,
  readConfigSource,
  remoteOfFlags,
  remotesOfFile,
  warnOfSameCluster,
} from '@kube-semaphore/multicluster';
import { type Leadership, SoleLeader } from '@kube-semaphore/leader-election';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { spellingOf } from '@kube-semaphore/options';
import { removalsOf } from './cleanup.ts';
import { parseMirrorFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import { metrics as metricTable, type MirrorMetrics } from './metrics/metrics.ts';
import { type MirrorOptions, options as table } from './config/options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { ServiceMirror } from './service-mirror.ts';
import { type Settings, settingsOfOptions } from './config/settings.ts';

type MirrorCommand = Command<MirrorOptions>;

/** Mirrors the Services of all remotes until `signal` is aborted. */
export async function runMirror(command: MirrorCommand, { signal }: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const leadership = (local: KubeClient, { metrics, settings }: Parts): Leadership => {
    const leaseName = `semaphore-service-mirror-${options.svcPrefix ?? settings.local.name}`;
    return leadershipOf(options, { client: local, leaseName, prefix: 'SSM', log, metrics });
  };
  return withMirror(
    command,
    leadership,
    async (mirror, { registry, metrics, file }) => {
      const health = { isLive: () => mirror.isLive(), isReady: () => mirror.isReady() };
      await serve(
        (run) => mirror.run(run),
        { ...health, listenAddress: options.listenAddress, registry, metrics, file, version, log },
        { signal },
      );
      return 0;
    },
    { signal },
  );
}

/** Prints what `runMirror` would write, and writes nothing. */
export async function runPlan(command: MirrorCommand, { signal }: RunOptions): Promise<number> {
  return withMirror(
    command,
    () => new SoleLeader(),
    async (mirror) => {
      const plan = await mirror.plan({ signal, timeoutMs: command.options.timeoutMs });
      command.print(command.options.output === 'json' ? planJson(plan) : planText(plan));
      return exitCodeOf(plan);
    },
    { signal },
  );
}

/** Removes what a cluster left that is served no more. */
export async function runCleanup(
  { options, notices, print, secrets, userAgent }: MirrorCommand,
  run: RunOptions,
): Promise<number> {
  const cluster = options.cleanupCluster!;
  const { cluster: place, namespace, served } = cleanupPlace(options, notices);
  const confirm = cleanupConfirmation({ cluster, served, yes: options.yes });
  const [local] = await connectAll([place], { notices, secrets });
  try {
    const removals = await removalsOf(
      { client: new KubeClient({ connection: local!, userAgent }), namespace, cluster, served },
      run,
    );
    return await cleanUp(
      removals,
      { cluster, consequence: 'Who uses these Services reaches nothing of it any more.', confirm, print },
      run,
    );
  } finally {
    local!.close();
  }
}

/** Where a cleanup looks, and the clusters that it leaves alone, by their names and prefixes: the local one is among them. */
function cleanupPlace(
  options: MirrorOptions,
  notices: Logger,
): { cluster: NamedReference; namespace: string; served: readonly string[] } {
  if (options.config === undefined) {
    const cluster = localOf(localReference(options.kubeConfig), options);
    return {
      cluster,
      namespace: options.mirrorNs!,
      served: options.svcPrefix === undefined ? [] : [options.svcPrefix],
    };
  }
  const { local, mirrorNamespace, remotes } = settingsOf(readConfigSource(options.config), options, notices);
  return {
    cluster: localOf(local.reference, options),
    namespace: mirrorNamespace,
    served: [local.name, ...remotes.flatMap(({ name, prefix }) => [name, prefix])],
  };
}

/** What there is beside the app itself. */
type Parts = {
  readonly settings: Settings;
  readonly metrics: MirrorMetrics;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  /** The config file, if there is one, as it was read. */
  readonly file: ReturnType<typeof readConfigSource> | undefined;
};

/** Connects all clusters, hands the app to `use`, and closes them again. */
async function withMirror(
  { options, log, notices, secrets, userAgent }: MirrorCommand,
  leadership: (local: KubeClient, parts: Parts) => Leadership,
  use: (mirror: ServiceMirror, parts: Parts) => Promise<number>,
  run: RunOptions,
): Promise<number> {
  const file = options.config === undefined ? undefined : readConfigSource(options.config);
  const settings = file === undefined ? settingsOfOptions(options) : settingsOf(file, options, notices);
  const clusters = clustersOf(settings, options);
  const connections = await connectAll(clusters, { notices, secrets });
  const compared = warnOfSameCluster({ clusters, connections, notices, userAgent }, run);
  const [local, ...remotes] = connections;
  const { metrics, registry } = createMetrics(metricTable, {
    remote: ['local', ...settings.remotes.map(({ name }) => name)],
  });
  const parts = { settings, metrics, registry, file };
  try {
    const code = await use(
      new ServiceMirror({
        options,
        settings,
        local: local!,
        remotes,
        log,
        metrics,
        leadership: (client) => leadership(client, parts),
        userAgent,
      }),
      parts,
    );
    await compared;
    return code;
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The local cluster and the remotes, with the flag or field that names each. */
function clustersOf({ local, remotes }: Settings, options: MirrorOptions): readonly NamedReference[] {
  const { config } = options;
  const others =
    config === undefined
      ? remotes.map((remote) => remoteOfFlags(remote, spellingOf(table.targetKubeConfig)))
      : remotesOfFile(remotes, `${config}: remoteClusters`);
  return [localOf(local.reference, options), ...others];
}

function localOf(reference: NamedReference['reference'], { config, kubeConfig }: MirrorOptions): NamedReference {
  return {
    at:
      config === undefined || kubeConfig !== undefined
        ? spellingOf(table.kubeConfig)
        : `${config}: localCluster.kubeConfigPath`,
    reference,
  };
}

function settingsOf(
  { path, content }: ReturnType<typeof readConfigSource>,
  options: MirrorOptions,
  notices: Logger,
): Settings {
  const file = parseMirrorFile(content);
  const isPod = process.env['KUBERNETES_SERVICE_HOST'] !== undefined;
  const settings = file.ok ? settingsOfFile(file.value, { options, isPod, canRead }) : file;
  if (!settings.ok) throw new ConfigError(settings.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of [...(file.ok ? file.warnings : []), ...settings.warnings]) notices.warn({ path }, warning);
  return settings.value;
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // Whatever keeps us from reading it: the caller knows what to do instead.
    return false;
  }
}
