/** The exit code that a shell reports for a program that SIGPIPE ended: 128 + 13. */
const ENDED_BY_SIGPIPE = 141;

/**
 * Ends the process, as SIGPIPE ends other programs, when the reader of its output is gone: `plan | head`. Node.js ignores
 * that signal and emits an error for each write that fails. Uncaught, that is logged, fails again, and never ends.
 */
export function endOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(ENDED_BY_SIGPIPE);
    });
  }
}
