import { readFileSync } from 'node:fs';
import { type ClusterReference, connect } from '@kube-semaphore/cluster-auth';
import { resolveOptions } from '@kube-semaphore/options';
import { addProcessMetrics, createLogger, createMetrics, runUntilSignal, startHealthServer } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { ConfigError } from './config-error.ts';
import { parseConfigFile } from './config-file.ts';
import { metrics as metricTable } from './metrics.ts';
import { options as optionTable, overridden, type PolicyOptions, program, validate } from './options.ts';
import { Policy } from './policy.ts';
import { type Settings, settingsOfFile, settingsOfOptions } from './settings.ts';

const { version } = packageJson;

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
const { config: options, given } = resolution;
const settings = options.config === undefined ? settingsOfOptions(options) : readSettings(options.config, options);
const log = createLogger({ level: options.logLevel, format: options.logFormat });
for (const warning of [...resolution.warnings, ...overridden(given)]) log.warn({}, warning);

const [local, ...others] = await connectAll([settings.local, ...settings.remotes.map(({ reference }) => reference)]);
const remotes = settings.remotes.map((remote, i) => ({ settings: remote, connection: others[i]! }));
const { metrics, registry } = createMetrics(metricTable, { remote: ['local', ...settings.remotes.map(({ name }) => name)] });
addProcessMetrics(registry);

let configError: ConfigError | undefined;
const code = await runUntilSignal(
  async ({ signal }) => {
    const policy = new Policy({ options, given, local: local!, remotes, log, metrics, userAgent: `${program.name}/${version}` });
    const { host, port } = options.listenAddress;
    const health = await startHealthServer({ host, port, registry, isLive: () => policy.isLive(), isReady: () => policy.isReady(), log });
    log.info({ port: health.port, version, clusters: settings.remotes.map(({ name }) => name) }, 'started');
    try {
      await policy.run({ signal });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      configError = error;
    } finally {
      await health.close();
      for (const connection of [local!, ...others]) connection.close();
    }
  },
  { log },
);
if (configError !== undefined) exitForConfig([configError.message]);
process.exit(code);

function readSettings(path: string, from: PolicyOptions): Settings {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    exitForConfig([`${path} can't be read: ${(error as NodeJS.ErrnoException).code}`]);
  }
  const file = parseConfigFile(source);
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
