import type { ReflectorHooks } from '@kube-semaphore/informers';
import type { Instruments, Logger, sharedMetrics } from '@kube-semaphore/runtime';

export type ClusterHooksOptions = {
  /** The remote's name; `local` for the cluster that we write to. */
  readonly cluster: string;
  readonly metrics: Pick<Instruments<ReturnType<typeof sharedMetrics>>, 'remoteUp' | 'remoteLastSync' | 'remoteWatchRestarts'>;
  readonly log: Logger;
  /** The first list is complete. */
  readonly onFirstSync: () => void;
  readonly onWatchForbidden?: () => void;
};

/**
 * What a watch's ups and downs look like in the log and the metrics: one line when the API server is lost, one when
 * it is back, and every attempt in between at debug.
 */
export function clusterHooks({ cluster, metrics, log, onFirstSync, onWatchForbidden }: ClusterHooksOptions): ReflectorHooks {
  const remote = { remote: cluster };
  let state: 'new' | 'up' | 'down' = 'new';
  let synced = false;
  metrics.remoteUp.set(remote, 0);
  return {
    onUp() {
      if (state !== 'up') log.info({ cluster }, state === 'new' ? 'API server reached' : 'API server is back');
      state = 'up';
      metrics.remoteUp.set(remote, 1);
    },
    onConfirmed() {
      metrics.remoteLastSync.set(remote, Math.round(Date.now() / 1000));
    },
    onSynced() {
      if (synced) return;
      synced = true;
      onFirstSync();
    },
    onRestart({ reason, verb, error, delayMs }) {
      metrics.remoteWatchRestarts.inc({ ...remote, reason });
      if (error === undefined) return;
      // A watch that expired or was silent is opened again at once: that alone says nothing about the API server.
      const harmless = reason === 'expired' || reason === 'idle';
      log[harmless || state === 'down' ? 'debug' : 'warn']({ cluster, reason, verb, error, retryInMs: Math.round(delayMs) }, 'watch broke off');
      if (harmless) return;
      state = 'down';
      metrics.remoteUp.set(remote, 0);
    },
    onWatchForbidden() {
      log.warn({ cluster }, 'listing is allowed but watching is not: changes are seen with the next list only');
      onWatchForbidden?.();
    },
  };
}
