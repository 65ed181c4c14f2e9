import { type Command, ConfigError, createMetrics, type Logger, serve } from '@kube-semaphore/runtime';
import {
  cleanUp,
  cleanupConfirmation,
  connectAll,
  leadershipOf,
  localReference,
  type NamedReference,
  overriddenAddresses,
  parseConfigFile,
  readConfigSource,
  remoteOfFlags,
  remotesOfFile,
  warnOfSameCluster,
} from '@kube-semaphore/multicluster';
import { type Leadership, SoleLeader } from '@kube-semaphore/leader-election';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { spellingOf } from '@kube-semaphore/options';
import { removalsOf } from './cleanup.ts';
import { configFileSchema } from './config/file.ts';
import { type PolicyMetrics, metrics as metricTable } from './metrics.ts';
import { options as table, type PolicyOptions } from './config/options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { Policy } from './policy.ts';
import { type Settings, settingsOfFile, settingsOfOptions } from './config/settings.ts';

type PolicyCommand = Command<PolicyOptions>;

/** Keeps the sets of all remotes until `signal` is aborted. */
export async function runPolicy(command: PolicyCommand, { signal }: RunOptions): Promise<number> {
  const { options, log, version } = command;
  const leadership = (local: KubeClient, { metrics, settings }: Parts): Leadership => {
    const leaseName = `semaphore-policy-${settings.remotes
      .map(({ name }) => name)
      .toSorted()
      .join('-')}`;
    return leadershipOf(options, { client: local, leaseName, prefix: 'SP', log, metrics });
  };
  return withPolicy(
    command,
    leadership,
    async (policy, { registry, metrics, file }) => {
      const health = { isLive: () => policy.isLive(), isReady: () => policy.isReady() };
      await serve(
        (run) => policy.run(run),
        { ...health, listenAddress: options.listenAddress, registry, metrics, file, version, log },
        { signal },
      );
      return 0;
    },
    { signal },
  );
}

/** Prints what `runPolicy` would write, and writes nothing. */
export async function runPlan(command: PolicyCommand, { signal }: RunOptions): Promise<number> {
  return withPolicy(
    command,
    () => new SoleLeader(),
    async (policy) => {
      const plan = await policy.plan({ signal, timeoutMs: command.options.timeoutMs });
      command.print(command.options.output === 'json' ? planJson(plan) : planText(plan));
      return exitCodeOf(plan);
    },
    { signal },
  );
}

/** Removes the sets of a cluster that is served no more. */
export async function runCleanup(
  { options, notices, print, secrets, userAgent }: PolicyCommand,
  run: RunOptions,
): Promise<number> {
  const cluster = options.cleanupCluster!;
  const confirm = cleanupConfirmation({ cluster, served: servedClusters(options, notices), yes: options.yes });
  const place = { at: spellingOf(table.localKubeConfig), reference: localReference(options.localKubeConfig) };
  const [local] = await connectAll([place], { notices, secrets });
  try {
    const removals = await removalsOf(
      { cluster, options, client: new KubeClient({ connection: local!, userAgent }) },
      run,
    );
    return await cleanUp(
      removals,
      { cluster, consequence: 'Policies that select its sets will match nothing.', confirm, print },
      run,
    );
  } finally {
    local!.close();
  }
}

/** The remotes that we would serve; a cleanup needn't have any. */
function servedClusters(options: PolicyOptions, notices: Logger): readonly string[] {
  if (options.config !== undefined)
    return settingsOf(readConfigSource(options.config), options, notices).remotes.map(({ name }) => name);
  return options.targetClusterName === undefined ? [] : [options.targetClusterName];
}

/** What there is beside the app itself. */
type Parts = {
  readonly settings: Settings;
  readonly metrics: PolicyMetrics;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  /** The config file, if there is one, as it was read. */
  readonly file: ReturnType<typeof readConfigSource> | undefined;
};

/** Connects all clusters, hands the app to `use`, and closes them again. */
async function withPolicy(
  { options, given, log, notices, secrets, userAgent }: PolicyCommand,
  leadership: (local: KubeClient, parts: Parts) => Leadership,
  use: (policy: Policy, parts: Parts) => Promise<number>,
  run: RunOptions,
): Promise<number> {
  const file = options.config === undefined ? undefined : readConfigSource(options.config);
  const settings = file === undefined ? settingsOfOptions(options) : settingsOf(file, options, notices);
  const clusters = clustersOf(settings, options);
  const connections = await connectAll(clusters, { notices, secrets });
  const compared = warnOfSameCluster({ clusters, connections, notices, userAgent }, run);
  const [local, ...others] = connections;
  const remotes = settings.remotes.map((remote, i) => ({ settings: remote, connection: others[i]! }));
  const { metrics, registry } = createMetrics(metricTable, {
    remote: ['local', ...settings.remotes.map(({ name }) => name)],
  });
  const parts = { settings, metrics, registry, file };
  try {
    const policy = new Policy({
      options,
      given,
      local: local!,
      localCidrs: settings.localCidrs,
      remotes,
      log,
      metrics,
      leadership: (client) => leadership(client, parts),
      userAgent,
    });
    const code = await use(policy, parts);
    await compared;
    return code;
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The local cluster and the remotes, with the flag or field that names each. */
function clustersOf(
  { local, remotes }: Settings,
  { config, localKubeConfig }: PolicyOptions,
): readonly NamedReference[] {
  const flag = { at: spellingOf(table.localKubeConfig), reference: local };
  if (config === undefined)
    return [flag, ...remotes.map((remote) => remoteOfFlags(remote, spellingOf(table.targetKubeConfig)))];
  return [
    localKubeConfig === undefined ? { at: `${config}: local.kubeConfigPath`, reference: local } : flag,
    ...remotesOfFile(remotes, `${config}: remotes`),
  ];
}

function settingsOf(
  { path, content }: ReturnType<typeof readConfigSource>,
  options: PolicyOptions,
  notices: Logger,
): Settings {
  const file = parseConfigFile(content, configFileSchema, { unknownKeys: 'error' });
  const settings = file.ok ? settingsOfFile(file.value, options) : file;
  if (!settings.ok) throw new ConfigError(settings.problems.map((problem) => `${path}: ${problem}`));
  for (const warning of file.ok ? overriddenAddresses(file.value.remotes, 'remotes') : [])
    notices.warn({ path }, warning);
  return settings.value;
}
