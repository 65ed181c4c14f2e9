import { Command, InvalidArgumentError, Option } from 'commander';

export const apps = ['service-mirror', 'policy', 'wireguard', 'wireguard-rotation', 'wireguard-blocks'] as const;
export type App = (typeof apps)[number];

/** What to run. */
export type Options = {
  readonly app: App | 'all';
  readonly seed?: number;
  /** How long new rounds of a seed begin, for each app. */
  readonly minutes: number;
  /** So many rounds, whatever time they take; default with a script: all of it. */
  readonly rounds?: number;
  readonly replicas: 1 | 2;
  /** How many smaller scripts to try after a violation. */
  readonly shrink: number;
  /** A file of rounds to perform, instead of those of the seed. */
  readonly script?: string;
  /** For how many seconds to wait for what must come about when it is quiet. */
  readonly wait: number;
};

const DEFAULTS = { replicas: 2, wait: 300 } as const;

/** The program. It throws a CommanderError for a wrong command line, and for help. */
export const commandLine = (run: (options: Options) => Promise<void>): Command =>
  new Command('npm run chaos --')
    .description(
      'Runs an app between three real clusters, changes and breaks what it works with, and compares what it wrote with ' +
        'what its pages promise whenever it is quiet. Exits with 1 if that differs. Needs what "npm run binaries" builds.',
    )
    .addOption(new Option('--app <name>', 'the app').choices([...apps, 'all']).makeOptionMandatory())
    .option('--seed <n>', 'the same events as in another run with this number; default: a new one', natural)
    .option('--minutes <n>', 'begins rounds for so long, for each app', natural, 5)
    .option('--rounds <n>', 'so many rounds instead', natural)
    .addOption(
      new Option('--replicas <n>', '1, or 2 that share a Lease')
        .argParser((text) => {
          if (text !== '1' && text !== '2') throw new InvalidArgumentError('It must be 1 or 2.');
          return Number(text);
        })
        .default(DEFAULTS.replicas),
    )
    .option(
      '--shrink <n>',
      'after a violation, tries up to so many smaller scripts, and writes the smallest to chaos-APP.json',
      natural,
      0,
    )
    .option('--script <file>', 'performs the rounds of such a file, instead of those of a seed')
    .option('--wait <seconds>', 'until what has not come about when it is quiet is a violation', natural, DEFAULTS.wait)
    .showHelpAfterError()
    .exitOverride()
    .action(run);

type Repeated = Pick<Options, 'rounds' | 'replicas' | 'wait'> & { readonly app: App; readonly events: string };

/** The command for the same events. @param events `--seed 5` */
export function againCommand({ app, events, rounds, replicas, wait }: Repeated, clusters: number): string {
  return [
    ...(clusters === 3 ? [] : [`CHAOS_CLUSTERS=${clusters}`]),
    `npm run chaos -- --app ${app} ${events}`,
    ...(rounds === undefined ? [] : [`--rounds ${rounds}`]),
    ...(replicas === DEFAULTS.replicas ? [] : [`--replicas ${replicas}`]),
    ...(wait === DEFAULTS.wait ? [] : [`--wait ${wait}`]),
  ].join(' ');
}

function natural(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
