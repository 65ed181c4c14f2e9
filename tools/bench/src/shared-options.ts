/** What every bench is asked. */
export type SharedOptions = {
  readonly embedded: boolean;
  readonly encoding: 'auto' | 'json';
  /** How often each program runs through all phases. */
  readonly repeat: number;
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
  repeat: { type: 'string', default: '3' },
  settle: { type: 'string', default: '10' },
  idle: { type: 'string', default: '0' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags of all apps, for `--help`. */
export const sharedUsage = `  --embedded         uses the embedded API server: quick, but its own time is in the figures
  --encoding json    ours reads JSON (default: auto, which is protobuf)
  --repeat N         rounds of all phases; the table has medians (3)
  --settle SECONDS   wait before memory counts as settled (10)
  --idle SECONDS     also measures CPU and memory without changes
  --json FILE        writes the results as JSON
  --markdown FILE    writes the table as Markdown
`;

/** The command line is wrong. */
export class UsageError extends Error {
  readonly code = 'USAGE';
}

/** The result of `parseArgs` for `sharedFlags`. */
export type SharedValues = {
  readonly embedded: boolean;
  readonly encoding: string;
  readonly repeat: string;
  readonly settle: string;
  readonly idle: string;
  readonly json?: string | undefined;
  readonly markdown?: string | undefined;
};

/** @throws {UsageError} */
export function sharedOptions({
  embedded,
  encoding,
  repeat,
  settle,
  idle,
  json,
  markdown,
}: SharedValues): SharedOptions {
  if (encoding !== 'auto' && encoding !== 'json') throw new UsageError('--encoding must be auto or json');
  return {
    embedded,
    encoding,
    repeat: natural('repeat', repeat, 1),
    settleSeconds: natural('settle', settle, 0),
    idleSeconds: natural('idle', idle, 0),
    json,
    markdown,
  };
}

/** @throws {UsageError} instead of the errors of `parseArgs` */
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
  if (!/^\d{1,9}$/.test(text) || value < least)
    throw new UsageError(`--${flag} must be a whole number of at least ${least}`);
  return value;
}
