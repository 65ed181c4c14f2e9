import { setTimeout as delay } from 'node:timers/promises';
import type { HostPort } from '@kube-semaphore/net';
import { ConfigError } from './config-error.ts';
import { type Health, startHealthServer } from './health/health-server.ts';
import type { Logger } from './log/logger.ts';
import type { createMetrics, Instruments } from './metrics/metrics.ts';
import { addProcessMetrics } from './metrics/process-metrics.ts';
import type { sharedMetrics } from './metrics/shared-metrics.ts';

/** A config file as it was read. */
export type ConfigSource = { readonly path: string; readonly content: string };

export type ServeInput = {
  readonly listenAddress: HostPort;
  readonly registry: ReturnType<typeof createMetrics>['registry'];
  readonly metrics: Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'configStale'>;
  readonly isLive: () => Health;
  readonly isReady: () => Health;
  /** The JSON of `/status`. */
  readonly status: () => Promise<string> | string;
  /** Whether a changed config file or kubeconfig isn't in force; the log says why. */
  readonly isConfigStale: () => Promise<boolean>;
  readonly version: string;
  readonly log: Logger;
};

/**
 * Runs an app with its health server, until it ends or `signal` is aborted.
 *
 * @throws {ConfigError} if the server can't listen
 */
export async function serve(
  run: (options: { readonly signal: AbortSignal }) => Promise<unknown>,
  { listenAddress, registry, metrics, isLive, isReady, status, isConfigStale, version, log }: ServeInput,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  addProcessMetrics(registry);
  const health = await startHealthServer({ ...listenAddress, registry, isLive, isReady, status, log }).catch(
    (error: Error) => {
      // The owner of the port may release it: an older process on the same node.
      throw new ConfigError(error.message, { exitCode: 1 });
    },
  );
  log.info({ port: health.port, version }, 'started');
  try {
    await Promise.all([run({ signal }), showStaleness({ isConfigStale, metrics }, { signal })]);
  } finally {
    await health.close();
  }
}

/** Asks every 5 s until `signal` is aborted, so that what is invalid is told although nothing uses it. */
async function showStaleness(
  { isConfigStale, metrics }: Pick<ServeInput, 'isConfigStale' | 'metrics'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    await delay(5_000, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    metrics.configStale.set({}, (await isConfigStale()) ? 1 : 0);
  }
}
