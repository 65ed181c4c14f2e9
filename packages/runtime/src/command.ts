import {
  type CommonOptions,
  type Given,
  type OptionTable,
  type Program,
  type ResolveInput,
  resolveOptions,
} from '@kube-semaphore/options';
import { jsonPage, printable, Secrets } from '@kube-semaphore/text';
import { ConfigError } from './config-error.ts';
import { createLogger, type Logger } from './log/logger.ts';
import { lineLog } from './log/line-log.ts';
import { wordsOf } from './log/error-message.ts';
import { endOnBrokenPipe } from './process/broken-pipe.ts';
import { keepMemoryFromCoreDumps } from './process/core-dumps.ts';
import { runUntilSignal } from './process/run-until-signal.ts';

/** An app as a program: its name, its options, and the rules across them. */
export type AppDefinition<C extends CommonOptions> = Pick<ResolveInput<C>, 'superseded' | 'overridden'> &
  Required<Pick<ResolveInput<C>, 'validate'>> & {
    readonly program: Omit<Program, 'version' | 'commit'>;
    readonly version: string;
    readonly options: OptionTable<C>;
  };

/** A valid command line. */
export type Command<C> = {
  readonly options: Readonly<C>;
  readonly given: Given<C>;
  /** Undefined: run the program itself. */
  readonly subcommand: string | undefined;
  readonly log: Logger;
  /** For warnings about options, files and addresses: the log, or lines for people in a subcommand without `-log-level`. */
  readonly warningLog: Logger;
  /** Writes a page of `@kube-semaphore/text` to stdout, or a value as JSON, without our credentials. */
  readonly print: (page: string | object) => void;
  /** Our credentials, which log and `print` strip. */
  readonly secrets: Secrets;
  readonly name: string;
  readonly version: string;
  /** `name/version`, for the logs of API servers. */
  readonly userAgent: string;
};

/**
 * Reads the command line of this process, runs it until it ends or a signal ends it, and exits: with 2 if usage or config
 * are wrong, each problem on a line without a stack.
 *
 * @param run returns the exit code. An error is 1, or the code of a ConfigError; in a subcommand without `-log-level` it is
 *   a line for people
 */
export async function runCommand<C extends CommonOptions>(
  { program, version, options: table, ...rules }: AppDefinition<C>,
  run: (command: Command<C>, options: { readonly signal: AbortSignal }) => Promise<number>,
): Promise<void> {
  endOnBrokenPipe();
  const exposed = keepMemoryFromCoreDumps();
  const commit = process.env['SEMAPHORE_COMMIT'];
  const resolution = await resolveOptions(table, {
    program: { ...program, version, commit },
    argv: process.argv.slice(2),
    env: process.env,
    ...rules,
  });
  if (resolution.kind === 'exit') {
    process.stdout.write(resolution.stdout ?? '');
    process.stderr.write(resolution.stderr ?? '');
    end(resolution.code);
    return;
  }
  const { config: options, given, subcommand } = resolution;
  // People read the output of a subcommand, and only errors of its log.
  const quiet = subcommand !== undefined && !given.has('logLevel');
  const secrets = new Secrets();
  const strip = (text: string): string => secrets.strip(text);
  const log = createLogger({ level: quiet ? 'error' : options.logLevel, format: options.logFormat, strip });
  const print = (page: string | object): void =>
    void process.stdout.write(typeof page === 'string' ? strip(page) : jsonPage(page, strip));
  const complain = (line: string): void => void process.stderr.write(`${program.name}: ${printable(strip(line))}\n`);
  const warningLog = quiet ? lineLog(complain) : log;
  for (const warning of resolution.warnings) warningLog.warn({}, warning);
  if (exposed !== undefined) log.warn({ error: exposed }, 'core dumps of this process contain its keys and tokens');
  const { name } = program;
  const userAgent = `${name}/${version}`;
  const command: Command<C> = {
    options,
    given,
    subcommand,
    log,
    warningLog,
    print,
    secrets,
    name,
    version,
    userAgent,
  };
  let exitCode = 0;
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    try {
      exitCode = await run(command, { signal });
    } catch (error) {
      const isConfig = error instanceof ConfigError;
      if (!isConfig && (!quiet || signal.aborted)) throw error;
      const problems = isConfig ? error.problems : [wordsOf(error)];
      for (const problem of problems) complain(problem);
      exitCode = isConfig ? error.exitCode : 1;
    }
  };
  const code = await runUntilSignal(work, { log });
  // A second signal came, or something hangs.
  if (code !== 0) process.exit(code);
  end(exitCode);
}

/** How long handles may take to close, or may stay open by mistake. */
const LINGER_MS = 500;

/**
 * Ends this process as soon as all handles are closed. `process.exit` joins threads that may wait for its caller
 * (nodejs/node#54918), so it is only called if that takes long.
 */
function end(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(code), LINGER_MS).unref();
}
