import { parseArgs } from 'node:util';

const apps = ['service-mirror', 'policy'] as const;
export type App = (typeof apps)[number];

/** What to run. */
export type Options = {
  readonly apps: readonly App[];
  readonly seed: number;
  /** How long new rounds begin, for each app; undefined with `rounds`. */
  readonly minutes: number;
  /** So many rounds, whatever time they take. */
  readonly rounds: number | undefined;
  readonly replicas: 1 | 2;
  /** How many smaller scripts to try after a violation. */
  readonly shrink: number;
  /** A file of rounds to perform, instead of those of the seed. */
  readonly script: string | undefined;
  /** How long to wait for what must come about when it is quiet. */
  readonly waitSeconds: number;
};

export const usage = `npm run chaos -- --app ${apps.join('|')}|all [flags]

Runs an app between three real clusters, changes and breaks what it works with, and compares what it wrote with what its
pages promise whenever it is quiet. Exits with 1 if that differs. Needs what "npm run binaries" builds.

  --seed N      the same events as in another run with this number (a new one)
  --minutes M   begins rounds for so long, for each app (5)
  --rounds N    so many rounds instead
  --replicas N  1, or 2 that share a Lease (2)
  --shrink N    after a violation, tries up to N smaller scripts, and writes the smallest to chaos-APP.json (0)
  --script FILE performs the events of such a file
  --wait S      seconds until what has not come about when it is quiet is a violation (300)
`;

/** The command line is wrong. */
export class UsageError extends Error {
  readonly code = 'USAGE';
}

/** @throws {UsageError} */
export function parseOptions(args: readonly string[], newSeed: () => number): Options | 'help' {
  const values = parsed(args);
  if (values.help) return 'help';
  const app = [...apps, 'all' as const].find((each) => each === values.app);
  if (app === undefined) throw new UsageError(`--app must be one of ${apps.join(', ')}, all`);
  if (!['1', '2', undefined].includes(values.replicas)) throw new UsageError('--replicas must be 1 or 2');
  return {
    apps: app === 'all' ? apps : [app],
    seed: values.seed === undefined ? newSeed() : natural('seed', values.seed),
    minutes: natural('minutes', values.minutes),
    replicas: values.replicas === '1' ? 1 : 2,
    shrink: natural('shrink', values.shrink),
    script: values.script,
    waitSeconds: natural('wait', values.wait),
    rounds: values.rounds === undefined ? undefined : natural('rounds', values.rounds),
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { app: text, seed: text, rounds: text, replicas: text, script: text } as const;
  try {
    const all = {
      ...options,
      minutes: { ...text, default: '5' },
      wait: { ...text, default: '300' },
      shrink: { ...text, default: '0' },
      help: { type: 'boolean', short: 'h', default: false },
    } as const;
    return parseArgs({ args: [...args], options: all }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function natural(flag: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError(`--${flag} must be a whole number`);
  return Number(text);
}
