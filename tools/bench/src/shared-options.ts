/** What every bench is asked. */
export type SharedOptions = {
  readonly embedded: boolean;
  readonly encoding: 'auto' | 'json';
  /** Commands of other programs. */
  readonly peers: readonly string[];
  /** At a steady rate, and as many others in a burst. */
  readonly changes: number;
  readonly rolloutPods: number;
  readonly settleSeconds: number;
  /** 0: not measured. */
  readonly idleSeconds: number;
  /** Files to write the results to. */
  readonly json: string | undefined;
  readonly markdown: string | undefined;
};

/** The rows of `SharedOptions`, as `parseArgs` takes them; `rollout` has a default that each app sets. */
export const sharedFlags = {
  embedded: { type: 'boolean', default: false },
  encoding: { type: 'string', default: 'auto' },
  peer: { type: 'string', multiple: true, default: [] as string[] },
  changes: { type: 'string' },
  settle: { type: 'string', default: '10' },
  idle: { type: 'string', default: '0' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags of all apps, for `--help`. */
export const sharedUsage = `  --embedded         on the embedded API server: quick, and says as much about that server as about the program
  --encoding json    ours asks for objects in JSON (auto: protobuf)
  --peer 'CMD'       also runs another program with the same flags, as often as given; in it {local} and {remote} stand for
                     kubeconfig files, {cluster} for the remote cluster's name
  --settle SECONDS   how long to wait before memory counts as settled (10)
  --idle SECONDS     also measures CPU and memory while nothing happens
  --json FILE        writes the results as JSON
  --markdown FILE    writes the table as Markdown
`;

/** The command line is wrong. */
export class UsageError extends Error {
  readonly code = 'USAGE';
}

/** What `parseArgs` has made of `sharedFlags`. */
type Values = {
  readonly embedded: boolean;
  readonly encoding: string;
  readonly peer: readonly string[];
  readonly changes?: string | undefined;
  readonly rollout: string;
  readonly settle: string;
  readonly idle: string;
  readonly json?: string | undefined;
  readonly markdown?: string | undefined;
};

/** Most changes unless more are asked for. */
const CHANGES = 300;

/**
 * @param subjects the flag that says how much there is to change, and its value: each changes once at most
 * @throws {UsageError}
 */
export function sharedOptions(values: Values, subjects: { flag: string; count: number }): SharedOptions {
  const { encoding } = values;
  if (encoding !== 'auto' && encoding !== 'json') throw new UsageError('--encoding is auto or json');
  const most = Math.floor(subjects.count / 2);
  const changes = values.changes === undefined ? Math.min(CHANGES, most) : natural('changes', values.changes, 1);
  if (changes > most) throw new UsageError(`--changes is half of --${subjects.flag} at most: each changes once`);
  return {
    embedded: values.embedded,
    encoding,
    peers: values.peer,
    changes,
    rolloutPods: natural('rollout', values.rollout, 1),
    settleSeconds: natural('settle', values.settle, 0),
    idleSeconds: natural('idle', values.idle, 0),
    json: values.json,
    markdown: values.markdown,
  };
}

/** @throws {UsageError} in the place of what `parseArgs` throws */
export function parsing<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws {UsageError} */
export function natural(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least) throw new UsageError(`--${flag} is a whole number from ${least} up`);
  return value;
}
