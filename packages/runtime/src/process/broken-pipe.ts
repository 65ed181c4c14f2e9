/** What a shell sees of a program that SIGPIPE ended: 128 + 13. */
const ENDED_BY_SIGPIPE = 141;

/**
 * Ends the process, as SIGPIPE ends other programs, when nobody reads what it prints any more: `plan | head`, or a log whose
 * reader is gone. Node.js ignores that signal and tells of each write that fails: an uncaught error, which is logged, which
 * fails, for ever.
 */
export function endOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(ENDED_BY_SIGPIPE);
    });
  }
}
