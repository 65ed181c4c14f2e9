import { readFileSync } from 'node:fs';
import { type ClusterReference, connect } from '@kube-semaphore/cluster-auth';
import { SoleLeader } from '@kube-semaphore/controller';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { resolveOptions } from '@kube-semaphore/options';
import { addProcessMetrics, createLogger, createMetrics, type Instruments, runUntilSignal, startHealthServer, watchForStaleness } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { askOnTerminal, cleanup } from './cleanup.ts';
import { ConfigError } from './config-error.ts';
import { parseConfigFile } from './config-file.ts';
import { leadershipOf } from './leadership.ts';
import { metrics as metricTable } from './metrics.ts';
import { options as optionTable, overridden, type PolicyOptions, program, validate } from './options.ts';
import { exitCodeOf, planJson, planText } from './plan.ts';
import { Policy } from './policy.ts';
import { localReference, settingsOfFile, settingsOfOptions } from './settings.ts';

/** How long `plan` waits for the local sets, and then for the remotes. */
const PLAN_TIMEOUT_MS = 30_000;

const { version } = packageJson;
const userAgent = `${program.name}/${version}`;

const resolution = await resolveOptions(optionTable, {
  program: { ...program, version, commit: process.env['SEMAPHORE_COMMIT'] },
  argv: process.argv.slice(2),
  env: process.env,
  validate,
});
if (resolution.kind === 'exit') {
  process.stdout.write(resolution.stdout ?? '');
  process.stderr.write(resolution.stderr ?? '');
  process.exit(resolution.code);
}
const { config: options, given, subcommand } = resolution;
// A subcommand's output is what people read; the log tells them only of trouble.
const quiet = subcommand !== undefined && !given.has('logLevel');
const log = createLogger({ level: quiet ? 'error' : options.logLevel, format: options.logFormat });
for (const warning of [...resolution.warnings, ...overridden(given)]) log.warn({}, warning);

type ConfigSource = { readonly path: string; readonly content: string };

type App = {
  readonly policy: Policy;
  readonly metrics: Instruments<typeof metricTable>;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  /** The config file, if there is one, as it was read. */
  readonly file: ConfigSource | undefined;
};

let exitCode = 0;
const code = await runUntilSignal(
  async ({ signal }) => {
    try {
      exitCode = await runSubcommand(signal);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      exitForConfig([error.message]);
    }
  },
  { log },
);
process.exit(code === 0 ? exitCode : code);

async function runSubcommand(signal: AbortSignal): Promise<number> {
  switch (subcommand) {
    case 'cleanup':
      return runCleanup(signal);
    case 'plan':
      return withPolicy(async ({ policy }) => {
        const plan = await policy.plan({ signal, timeoutMs: PLAN_TIMEOUT_MS });
        process.stdout.write(options.output === 'json' ? planJson(plan) : planText(plan));
        return exitCodeOf(plan);
      });
    default:
      return withPolicy((app) => serve(app, signal));
  }
}

async function serve({ policy, registry, metrics, file }: App, signal: AbortSignal): Promise<number> {
  const { host, port } = options.listenAddress;
  addProcessMetrics(registry);
  const health = await startHealthServer({ host, port, registry, isLive: () => policy.isLive(), isReady: () => policy.isReady(), log });
  log.info({ port: health.port, version }, 'started');
  try {
    await Promise.all([policy.run({ signal }), ...(file === undefined ? [] : [watchConfig(file, metrics, signal)])]);
  } finally {
    await health.close();
  }
  return 0;
}

/** Connects all clusters, hands the app to `use`, and closes them again. */
async function withPolicy(use: (app: App) => Promise<number>): Promise<number> {
  const file = options.config === undefined ? undefined : readFile(options.config);
  const settings = file === undefined ? settingsOfOptions(options) : settingsOf(file, options);
  const connections = await connectAll([settings.local, ...settings.remotes.map(({ reference }) => reference)]);
  const remotes = settings.remotes.map((remote, i) => ({ settings: remote, connection: connections[i + 1]! }));
  const { metrics, registry } = createMetrics(metricTable, { remote: ['local', ...settings.remotes.map(({ name }) => name)] });
  try {
    const leadership = (client: KubeClient) =>
      subcommand === undefined ? leadershipOf(options, { client, remotes: settings.remotes.map(({ name }) => name), log }) : new SoleLeader();
    const policy = new Policy({ options, given, local: connections[0]!, remotes, log, metrics, leadership, userAgent });
    return await use({ policy, metrics, registry, file });
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function runCleanup(signal: AbortSignal): Promise<number> {
  if (!options.yes && !process.stdin.isTTY) exitForConfig(['cleanup asks before it removes anything, and there is no terminal: say -yes']);
  const [local] = await connectAll([localReference(options.localKubeConfig)]);
  const confirm = options.yes ? () => Promise.resolve(true) : askOnTerminal;
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    return (await cleanup({ cluster: options.cleanupCluster!, options, local: local!, userAgent, confirm, print }, { signal })) ? 0 : 1;
  } finally {
    local!.close();
  }
}

function watchConfig({ path, content }: ConfigSource, metrics: App['metrics'], signal: AbortSignal): Promise<void> {
  return watchForStaleness(path, {
    content,
    signal,
    onStale: (isStale) => {
      metrics.configStale.set({}, isStale ? 1 : 0);
      log.warn({ path, isStale }, isStale ? 'the config file changed since it was read: a restart reads it' : 'the config file is what is in force again');
    },
  });
}

function readFile(path: string): ConfigSource {
  try {
    return { path, content: readFileSync(path, 'utf8') };
  } catch (error) {
    return exitForConfig([`${path} can't be read: ${(error as NodeJS.ErrnoException).code}`]);
  }
}

function settingsOf({ path, content }: ConfigSource, from: PolicyOptions) {
  const file = parseConfigFile(content);
  const read = file.ok ? settingsOfFile(file.value, from) : file;
  return read.ok ? read.value : exitForConfig(read.problems.map((problem) => `${path}: ${problem}`));
}

async function connectAll(references: readonly ClusterReference[]) {
  const connections = await Promise.allSettled(references.map((reference) => connect(reference, { env: process.env, log })));
  const failed = connections.filter((connection) => connection.status === 'rejected');
  if (failed.length > 0) exitForConfig(failed.map(({ reason }) => (reason as Error).message));
  return connections.flatMap((connection) => (connection.status === 'fulfilled' ? [connection.value] : []));
}

/** For people: no level, no stack. */
function exitForConfig(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`${program.name}: ${problem}\n`);
  process.exit(2);
}
