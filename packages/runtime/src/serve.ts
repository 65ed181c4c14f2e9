import type { HostPort } from '@kube-semaphore/net';
import { ConfigError } from './config-error.ts';
import { type Health, startHealthServer } from './health/health-server.ts';
import type { Logger } from './log/logger.ts';
import type { createMetrics, Instruments } from './metrics/metrics.ts';
import { addProcessMetrics } from './metrics/process-metrics.ts';
import type { sharedMetrics } from './metrics/shared-metrics.ts';
import { watchForStaleness } from './process/stale-file.ts';

/** A config file as it was read. */
export type ConfigSource = { readonly path: string; readonly content: string };

export type ServeInput = {
  readonly listenAddress: HostPort;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  readonly metrics: Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'configStale'>;
  readonly isLive: () => Health;
  readonly isReady: () => Health;
  /** Read once; a change on disk is only told of. */
  readonly file: ConfigSource | undefined;
  readonly version: string;
  readonly log: Logger;
};

/**
 * Runs an app with its health server, until it ends or `signal` is aborted.
 *
 * @throws {ConfigError} if the port can't be had
 */
export async function serve(
  run: (options: { readonly signal: AbortSignal }) => Promise<void>,
  input: ServeInput,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const { listenAddress, registry, isLive, isReady, file, version, log } = input;
  addProcessMetrics(registry);
  const health = await startHealthServer({ ...listenAddress, registry, isLive, isReady, log }).catch((error: Error) => {
    // Whoever has the port may give it up: an older process of the same node.
    throw new ConfigError(error.message, { exitCode: 1 });
  });
  log.info({ port: health.port, version }, 'started');
  try {
    await Promise.all([run({ signal }), ...(file === undefined ? [] : [watchConfig(file, input, signal)])]);
  } finally {
    await health.close();
  }
}

function watchConfig(
  { path, content }: ConfigSource,
  { metrics, log }: ServeInput,
  signal: AbortSignal,
): Promise<void> {
  return watchForStaleness(path, {
    content,
    signal,
    onStale: (isStale) => {
      metrics.configStale.set({}, isStale ? 1 : 0);
      log.warn(
        { path, isStale },
        isStale
          ? 'the config file changed since it was read: a restart reads it'
          : 'the config file is what is in force again',
      );
    },
  });
}
