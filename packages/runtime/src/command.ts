import {
  type CommonOptions,
  type Given,
  type OptionTable,
  type Program,
  type ResolveInput,
  resolveOptions,
} from '@kube-semaphore/options';
import { printable, Secrets } from '@kube-semaphore/text';
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

/** A command line that was understood. */
export type Command<C> = {
  readonly options: Readonly<C>;
  readonly given: Given<C>;
  /** Undefined: the program is to run. */
  readonly subcommand: string | undefined;
  readonly log: Logger;
  /** For what is odd about options, files and addresses: the log; in a subcommand lines for people, unless they asked for the log. */
  readonly notices: Logger;
  /** Writes a page of `@kube-semaphore/text` to stdout, without our credentials. */
  readonly print: (page: string) => void;
  /** What log and `print` strip. */
  readonly secrets: Secrets;
  readonly version: string;
  /** `name/version`, for the API servers' logs. */
  readonly userAgent: string;
};

/**
 * Reads the command line of this process, does what it says until that ends or a signal ends it, and exits: with 2 for
 * what is wrong with usage or config, each problem on a line of its own without a stack.
 *
 * @param run returns the exit code; what it throws is 1, but for a ConfigError: in a subcommand a line for people, unless
 *   they asked for the log by its level
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
  // A subcommand's output is what people read; the log tells them only of trouble.
  const quiet = subcommand !== undefined && !given.has('logLevel');
  const secrets = new Secrets();
  const strip = (text: string): string => secrets.strip(text);
  const log = createLogger({ level: quiet ? 'error' : options.logLevel, format: options.logFormat, strip });
  const print = (page: string): void => void process.stdout.write(strip(page));
  const complain = (line: string): void => void process.stderr.write(`${program.name}: ${printable(strip(line))}\n`);
  const notices = quiet ? lineLog(complain) : log;
  for (const warning of resolution.warnings) notices.warn({}, warning);
  if (exposed !== undefined) log.warn({ error: exposed }, 'a core dump of this process would hold its keys and tokens');
  const userAgent = `${program.name}/${version}`;
  const command: Command<C> = { options, given, subcommand, log, notices, print, secrets, version, userAgent };
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
  // Something hangs, or nobody wants to wait.
  if (code !== 0) process.exit(code);
  end(exitCode);
}

/** How long the end may take of what was closed, or of what somebody forgot to close. */
const LINGER_MS = 500;

/**
 * Ends this process as soon as nothing is open any more. `process.exit` joins threads that may be waiting for the one that
 * calls it (nodejs/node#54918), so it comes only if that takes long.
 */
function end(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(code), LINGER_MS).unref();
}
