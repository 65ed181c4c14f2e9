import type { HostPort } from '@kube-semaphore/net';
import { variableOf, type OptionTable } from './table.ts';
import { duration, integer, listenAddress, logLevel, type LogLevel, oneOf } from './types.ts';

/** What every app has besides its own options. */
export type CommonOptions = {
  /** Where `/healthz`, `/readyz` and `/metrics` are served. */
  readonly listenAddress: HostPort;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'pretty';
  /** Least time between two writes of one object, from the end of the first; 0 is no limit. */
  readonly minWriteIntervalMs: number;
  /** Parallel writes per API server. */
  readonly writeConcurrency: number;
  /** Opens a watch again after this time without an event. */
  readonly watchIdleTimeoutMs: number;
  /** Of what we watch in one remote, so many objects are kept at most, ... */
  readonly maxRemoteObjects: number;
  /** ... and so many MiB of memory; undefined: a quarter of what the process may use. */
  readonly maxRemoteMib: number | undefined;
};

/**
 * The rows of `CommonOptions`.
 *
 * @param prefix of the app's variables: `SP`
 * @param older prefix that the app's log level still answers to, the one common option that the Go programs had
 * @param port that the app listens on unless told otherwise
 */
export function commonOptions({
  prefix,
  older,
  port = 8080,
}: {
  prefix: string;
  older?: string;
  port?: number;
}): OptionTable<CommonOptions> {
  const named = (flag: string) => ({ flag, env: variableOf(prefix, flag) });
  return {
    listenAddress: {
      ...named('listen-address'),
      group: 'Process',
      type: listenAddress,
      fallback: { host: '', port },
      help: 'Address of /healthz, /readyz and /metrics.',
    },
    logLevel: {
      ...named('log-level'),
      ...(older === undefined ? {} : { aliases: [variableOf(older, 'log-level')] }),
      group: 'Process',
      type: logLevel,
      fallback: 'info',
      help: 'Lowest level that is logged; off logs nothing.',
    },
    logFormat: {
      ...named('log-format'),
      group: 'Process',
      type: oneOf(['auto', 'json', 'pretty']),
      fallback: 'auto',
      help: 'Format of the log on stderr; auto is pretty on a terminal, else json.',
    },
    minWriteIntervalMs: {
      ...named('min-write-interval'),
      group: 'Pacing',
      type: duration(),
      fallback: 200,
      help: 'Minimum time between two writes of one object; the first is immediate.',
    },
    writeConcurrency: {
      ...named('write-concurrency'),
      group: 'Pacing',
      type: integer({ min: 1, max: 1000 }),
      fallback: 16,
      help: 'Parallel writes per API server.',
    },
    watchIdleTimeoutMs: {
      ...named('watch-idle-timeout'),
      group: 'Pacing',
      type: duration({ minMs: 1_000 }),
      fallback: 90_000,
      help: 'Opens a watch again after this time without an event.',
    },
    maxRemoteObjects: {
      ...named('max-remote-objects'),
      group: 'Limits',
      type: integer({ min: 1, max: 100_000_000 }),
      fallback: 200_000,
      help: 'Objects kept per remote; with more, its watches stop.',
    },
    maxRemoteMib: {
      ...named('max-remote-mib'),
      group: 'Limits',
      type: integer({ min: 1, max: 1_000_000 }),
      absent: '1/4 of the memory limit, at least 64',
      help: 'Estimated MiB of memory per remote; with more, its watches stop.',
    },
  };
}
