import type { HostPort } from '@kube-semaphore/net';
import type { OptionRows } from '../table.ts';
import { boolean, duration, integer, listenAddress, logLevel, type LogLevel, oneOf } from '../types.ts';

/** What every app has besides its own options. */
export type CommonOptions = {
  /** Output format of the subcommands that print. */
  readonly output: 'text' | 'json';
  /** How long these wait for the local cluster, and then for the remotes. */
  readonly timeoutMs: number;
  /** Whether subcommands that write do so without a question. */
  readonly yes: boolean;
  /** `auto` prefers protobuf. */
  readonly encoding: 'auto' | 'json';
  /** Percentage of a remote's objects that a list may be missing, 0 to 100; 100 switches the guard off. */
  readonly deletionGuardPercent: number;
  /** This many deletions are never held. */
  readonly deletionGuardMin: number;
  readonly deletionGuardHoldMs: number;
  /** Minimum time between two writes of one object, from the end of the first; 0 is no limit. */
  readonly minWriteIntervalMs: number;
  /** Parallel writes per API server, at most half of them (rounded up) for one remote. */
  readonly writeConcurrency: number;
  /** Opens a watch again after this time without an event. */
  readonly watchIdleTimeoutMs: number;
  readonly maxRemoteObjects: number;
  /** Undefined: a quarter of the memory that the process may use. */
  readonly maxRemoteMib: number | undefined;
  /** Where `/healthz`, `/readyz` and `/metrics` are served. */
  readonly listenAddress: HostPort;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'pretty';
};

type Particulars = {
  /** The subcommands that print what they find: `['plan', 'status']`. */
  readonly printing: readonly string[];
  /** What these wait for first: `the local objects`. */
  readonly local: string;
  /** The default port. */
  readonly port?: number;
};

/** The rows of `CommonOptions`. */
export const commonRows = ({ printing, local, port = 8080 }: Particulars): OptionRows<CommonOptions> => ({
  output: {
    flag: 'o',
    variable: 'OUTPUT',
    group: 'Subcommands',
    type: oneOf(['text', 'json']),
    fallback: 'text',
    help: `Output format of ${printing.join(' and ')}.`,
  },
  timeoutMs: {
    flag: 'timeout',
    group: 'Subcommands',
    type: duration({ minMs: 1_000 }),
    // A connection gives up after 30 s, and its error says why.
    fallback: 45_000,
    help: `How long ${printing.join(' and ')} wait${printing.length === 1 ? 's' : ''} for ${local}, and then for remotes.`,
  },
  ...workRows,
  listenAddress: {
    flag: 'listen-address',
    group: 'Process',
    type: listenAddress,
    fallback: { host: '', port },
    help: 'Address of /healthz, /readyz and /metrics.',
  },
  ...logRows,
});

const workRows = {
  yes: {
    flag: 'yes',
    group: 'Subcommands',
    type: boolean,
    fallback: false,
    help: 'Makes subcommands that write do so without a question.',
  },
  encoding: {
    flag: 'encoding',
    group: 'Process',
    type: oneOf(['auto', 'json']),
    fallback: 'auto',
    help: 'auto prefers protobuf; json is slower, for proxies that need it.',
  },
  deletionGuardPercent: {
    flag: 'deletion-guard-percent',
    group: 'Deletion guard',
    type: integer({ min: 0, max: 100 }),
    fallback: 50,
    help: 'Holds deletions if a list is missing more than this percentage; 100 holds none.',
  },
  deletionGuardMin: {
    flag: 'deletion-guard-min',
    group: 'Deletion guard',
    type: integer({ min: 0, max: 1_000_000 }),
    fallback: 10,
    help: 'Never holds this many deletions or fewer.',
  },
  deletionGuardHoldMs: {
    flag: 'deletion-guard-hold',
    group: 'Deletion guard',
    type: duration({ minMs: 1 }),
    fallback: 300_000,
    help: 'Time before the remote is listed again, and believed.',
  },
  minWriteIntervalMs: {
    flag: 'min-write-interval',
    group: 'Pacing',
    type: duration(),
    fallback: 200,
    help: 'Time between two writes of one object in the long run; up to five are sent at once.',
  },
  writeConcurrency: {
    flag: 'write-concurrency',
    group: 'Pacing',
    type: integer({ min: 1, max: 1000 }),
    fallback: 16,
    help: 'Parallel writes per API server, at most half of them (rounded up) for one remote.',
  },
  watchIdleTimeoutMs: {
    flag: 'watch-idle-timeout',
    group: 'Pacing',
    type: duration({ minMs: 1_000 }),
    fallback: 90_000,
    help: 'Opens a watch again after this time without an event.',
  },
  maxRemoteObjects: {
    flag: 'max-remote-objects',
    group: 'Limits',
    type: integer({ min: 1, max: 100_000_000 }),
    fallback: 200_000,
    help: 'Objects kept per remote; with more, its watches stop.',
  },
  maxRemoteMib: {
    flag: 'max-remote-mib',
    group: 'Limits',
    type: integer({ min: 1, max: 1_000_000 }),
    absent: '1/4 of the memory limit, at least 64',
    help: 'Estimated MiB of memory per remote; with more, its watches stop.',
  },
} as const satisfies Partial<OptionRows<CommonOptions>>;

const logRows = {
  logLevel: {
    flag: 'log-level',
    group: 'Process',
    type: logLevel,
    fallback: 'info',
    help: 'Lowest level that is logged; off logs nothing.',
  },
  logFormat: {
    flag: 'log-format',
    group: 'Process',
    type: oneOf(['auto', 'json', 'pretty']),
    fallback: 'auto',
    help: 'Format of the log on stderr; auto is pretty on a terminal, else json.',
  },
} as const satisfies Partial<OptionRows<CommonOptions>>;
