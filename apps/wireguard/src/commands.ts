import { join } from 'node:path';
import { beforeScrape, type Command, ConfigError, createMetrics, type Logger, serve } from '@kube-semaphore/runtime';
import {
  cleanUp,
  cleanupConfirmation,
  connectAll,
  overriddenAddresses,
  readConfigSource,
  remotesOfFile,
  warnOfSameCluster,
} from '@kube-semaphore/multicluster';
import { KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { pageOf } from '@kube-semaphore/text';
import { startUserspaceDevice, systemTools, watchLinks } from '@kube-semaphore/wireguard-tools';
import { removalsOf } from './cleanup.ts';
import { parseClustersFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import { metrics as metricTable, type WireGuardMetrics } from './metrics/metrics.ts';
import type { WireGuardOptions } from './config/options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import type { Settings } from './config/settings.ts';
import { statusJson, statusText } from './status.ts';
import { noNode, WireGuard } from './wireguard.ts';

type WireGuardCommand = Command<WireGuardOptions>;

/** Keeps the tunnels to all remotes until `signal` is aborted. */
export async function runAgent(command: WireGuardCommand, { signal }: RunOptions): Promise<number> {
  const { options, log, version } = command;
  return withWireGuard(
    command,
    async (wireguard, { registry, metrics, file }) => {
      beforeScrape(registry, () => wireguard.show());
      const health = { isLive: () => wireguard.isLive(), isReady: () => wireguard.isReady() };
      await serve(
        (run) => wireguard.run(run),
        { ...health, listenAddress: options.listenAddress, registry, metrics, file, version, log },
        { signal },
      );
      return 0;
    },
    { signal },
  );
}

/** Prints what `runAgent` would change on this node, and changes nothing. */
export async function runPlan(command: WireGuardCommand, { signal }: RunOptions): Promise<number> {
  return withWireGuard(
    command,
    async (wireguard) => {
      const plan = await wireguard.plan({ signal, timeoutMs: command.options.timeoutMs });
      command.print(command.options.output === 'json' ? planJson(plan) : planText(plan));
      return exitCodeOf(plan);
    },
    { signal },
  );
}

/** Prints the peers of this node. */
export async function runStatus(command: WireGuardCommand, { signal }: RunOptions): Promise<number> {
  return withWireGuard(
    command,
    async (wireguard) => {
      const remotes = await wireguard.status({ signal, timeoutMs: command.options.timeoutMs });
      command.print(command.options.output === 'json' ? statusJson(remotes) : statusText(remotes));
      if (!wireguard.hasNoNode) return remotes.every(({ reached }) => reached) ? 0 : 1;
      process.stderr.write(`semaphore-wireguard: ${noNode(command.options.nodeName)}\n`);
      return 1;
    },
    { signal },
  );
}

/** Takes leave of one remote, or of all: removes what is ours from this node. */
export async function runCleanup(
  { options, notices, print, secrets, userAgent }: WireGuardCommand,
  { signal }: RunOptions,
): Promise<number> {
  const { cleanupCluster: cluster, nodeName, wgKeyPath: keyFolder, yes } = options;
  const name = cluster ?? 'all';
  // A remote that is still in the config may be taken leave of: it is the node that goes then.
  const confirm = cleanupConfirmation({ cluster: name, served: [], yes });
  const { file, settings } = readSettings(options, notices);
  const [local] = await connectAll([localOf(file, settings)], { notices, secrets });
  try {
    const client = new KubeClient({ connection: local!, userAgent });
    const withoutNode = `There is no Node ${nodeName}, and so there are no annotations of it.`;
    const onNoNode = (): void => print(pageOf([withoutNode]));
    const removals = await removalsOf({
      cluster,
      nodeName,
      client,
      tools: systemTools(),
      remotes: settings.remotes,
      keyFolder,
      onNoNode,
      signal,
    });
    const consequence =
      'Pods of this node will not reach its pods, nor be reached; an agent that still runs with it in its config makes everything again.';
    return await cleanUp(removals, { cluster: name, consequence, confirm, print }, { signal });
  } finally {
    local!.close();
  }
}

/** What there is beside the app itself. */
type Parts = {
  readonly metrics: WireGuardMetrics;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  /** The config file as it was read. */
  readonly file: ReturnType<typeof readConfigSource>;
};

/** Connects all clusters, hands the app to `use`, and closes them again. */
async function withWireGuard(
  { options, log, notices, secrets, userAgent }: WireGuardCommand,
  use: (wireguard: WireGuard, parts: Parts) => Promise<number>,
  run: RunOptions,
): Promise<number> {
  const { file, settings } = readSettings(options, notices);
  const clusters = [localOf(file, settings), ...remotesOfFile(settings.remotes, `${file.path}: remotes`)];
  const connections = await connectAll(clusters, { notices, secrets });
  const compared = warnOfSameCluster({ clusters, connections, notices, userAgent }, run);
  const [local, ...remotes] = connections;
  const names = settings.remotes.map(({ name }) => name);
  const { metrics, registry } = createMetrics(metricTable, {
    remote: ['local', ...names],
    cluster: names,
    device: settings.remotes.map(({ device }) => device),
  });
  const logFile = (device: string): string => join(options.wgKeyPath, `${device}.log`);
  // In a Pod, or as the first process of any container, we take along at our end what we have started.
  const isContained = process.env['KUBERNETES_SERVICE_HOST'] !== undefined || process.pid === 1;
  const startUserspace = isContained ? undefined : startUserspaceDevice;
  const devices = { tools: systemTools(), startUserspace, userspace: options.userspace, logFile };
  try {
    const code = await use(
      new WireGuard({ options, settings, local: local!, remotes, devices, watchLinks, log, metrics, userAgent }),
      { metrics, registry, file },
    );
    await compared;
    return code;
  } finally {
    for (const connection of connections) connection.close();
  }
}

const localOf = ({ path }: Parts['file'], { local }: Settings) => ({
  at: `${path}: local.kubeConfigPath`,
  reference: local.reference,
});

function readSettings(
  { clustersConfig }: WireGuardOptions,
  notices: Logger,
): { readonly file: ReturnType<typeof readConfigSource>; readonly settings: Settings } {
  const file = readConfigSource(clustersConfig);
  const parsed = parseClustersFile(file.content);
  const settings = parsed.ok ? settingsOfFile(parsed.value) : parsed;
  if (!settings.ok) throw new ConfigError(settings.problems.map((problem) => `${file.path}: ${problem}`));
  for (const warning of parsed.ok ? [...parsed.warnings, ...overriddenAddresses(parsed.value.remotes, 'remotes')] : [])
    notices.warn({ path: file.path }, warning);
  return { file, settings: settings.value };
}
