/** What every bench is asked. */
export type SharedOptions = {
  readonly embedded: boolean;
  readonly encoding: 'auto' | 'json';
  readonly settleSeconds: number;
  /** 0: not measured. */
  readonly idleSeconds: number;
  /** Files to write the results to. */
  readonly json: string | undefined;
  readonly markdown: string | undefined;
};

/** The rows of `SharedOptions`, as `parseArgs` takes them. */
export const sharedFlags = {
  embedded: { type: 'boolean', default: false },
  encoding: { type: 'string', default: 'auto' },
  settle: { type: 'string', default: '10' },
  idle: { type: 'string', default: '0' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags of all apps, for `--help`. */
export const sharedUsage = `  --embedded         on the embedded API server: quick, and says as much about that server as about the program
  --encoding json    ours asks for objects in JSON (auto: protobuf)
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
export type SharedValues = {
  readonly embedded: boolean;
  readonly encoding: string;
  readonly settle: string;
  readonly idle: string;
  readonly json?: string | undefined;
  readonly markdown?: string | undefined;
};

/** @throws {UsageError} */
export function sharedOptions({ embedded, encoding, settle, idle, json, markdown }: SharedValues): SharedOptions {
  if (encoding !== 'auto' && encoding !== 'json') throw new UsageError('--encoding is auto or json');
  return {
    embedded,
    encoding,
    settleSeconds: natural('settle', settle, 0),
    idleSeconds: natural('idle', idle, 0),
    json,
    markdown,
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
