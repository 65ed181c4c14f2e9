import { type ClusterReference, connect } from '@kube-semaphore/cluster-auth';
import { resolveOptions } from '@kube-semaphore/options';
import { addProcessMetrics, createLogger, createMetrics, runUntilSignal, startHealthServer } from '@kube-semaphore/runtime';
import packageJson from '../package.json' with { type: 'json' };
import { ConfigError } from './config-error.ts';
import { metrics as metricTable } from './metrics.ts';
import { options as optionTable, overridden, program, validate } from './options.ts';
import { Policy } from './policy.ts';
import { localReference, remoteReference } from './references.ts';

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
const log = createLogger({ level: options.logLevel, format: options.logFormat });
for (const warning of [...resolution.warnings, ...overridden(given)]) log.warn({}, warning);

const clusters = await Promise.allSettled([localReference(options), remoteReference(options)].map(open));
const [local, remote] = clusters.flatMap((cluster) => (cluster.status === 'fulfilled' ? [cluster.value] : []));
if (local === undefined || remote === undefined) {
  exitForConfig(clusters.flatMap((cluster) => (cluster.status === 'rejected' ? [cluster.reason] : [])));
}

const { metrics, registry } = createMetrics(metricTable, { remote: ['local', options.targetClusterName] });
addProcessMetrics(registry);

let configError: ConfigError | undefined;
const code = await runUntilSignal(
  async ({ signal }) => {
    const policy = new Policy({ options, given, local, remote, log, metrics, userAgent: `${program.name}/${version}` });
    const { host, port } = options.listenAddress;
    const health = await startHealthServer({ host, port, registry, isLive: () => policy.isLive(), isReady: () => policy.isReady(), log });
    log.info({ port: health.port, version, cluster: options.targetClusterName }, 'started');
    try {
      await policy.run({ signal });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      configError = error;
    } finally {
      await health.close();
      local.close();
      remote.close();
    }
  },
  { log },
);
if (configError !== undefined) exitForConfig([configError]);
process.exit(code);

function open(reference: ClusterReference) {
  return connect(reference, { env: process.env, log });
}

/** For people: no level, no stack. */
function exitForConfig(problems: readonly Error[]): never {
  for (const { message } of problems) process.stderr.write(`${program.name}: ${message}\n`);
  process.exit(2);
}
