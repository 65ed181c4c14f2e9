import type { HostPort } from '@kube-semaphore/net';
import { ConfigError } from './config-error.ts';
import { type Health, startHealthServer } from './health/health-server.ts';
import type { Logger } from './log/logger.ts';
import type { createMetrics, Instruments } from './metrics/metrics.ts';
import { addProcessMetrics } from './metrics/process-metrics.ts';
import type { sharedMetrics } from './metrics/shared-metrics.ts';
import { watchForStaleness, watchStaleness } from './process/stale-file.ts';

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
  /** A change of the file is reported, and not applied. */
  readonly file: ConfigSource | undefined;
  /** Whether a changed kubeconfig isn't used; its connection says why. */
  readonly isKubeconfigStale: () => Promise<boolean>;
  readonly version: string;
  readonly log: Logger;
};

/**
 * Runs an app with its health server, until it ends or `signal` is aborted.
 *
 * @throws {ConfigError} if the server can't listen
 */
export async function serve(
  run: (options: { readonly signal: AbortSignal }) => Promise<void>,
  { listenAddress, registry, metrics, isLive, isReady, status, file, isKubeconfigStale, version, log }: ServeInput,
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
  const stale = { file: false, kubeconfig: false };
  const note = (change: Partial<typeof stale>): void => {
    Object.assign(stale, change);
    metrics.configStale.set({}, stale.file || stale.kubeconfig ? 1 : 0);
  };
  const onStale = (isStale: boolean): void => {
    note({ file: isStale });
    log.warn(
      { path: file!.path, isStale },
      isStale ? 'config file changed; restart to apply it' : 'config file restored',
    );
  };
  try {
    await Promise.all([
      run({ signal }),
      file && watchForStaleness(file.path, { content: file.content, signal, onStale }),
      watchStaleness(isKubeconfigStale, { signal, onStale: (kubeconfig) => note({ kubeconfig }) }),
    ]);
  } finally {
    await health.close();
  }
}
