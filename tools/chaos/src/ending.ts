/** How a replica ended. */
export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** Whether its heap was too small. */
  readonly starved: boolean;
  /** A line that says why it may end; undefined if nothing that it needs was broken. */
  readonly excuse: RegExp | undefined;
};

/** What that means. */
export type Ending = {
  readonly why: 'killed' | 'lacked memory' | 'lacked what it needs' | 'by itself';
  /** Lines of its log that no replica may write. Without memory, it may say anything. */
  readonly errors: readonly string[];
};

/** Why a replica ended, and which errors it logged before. One more error than the excuse, and nothing is excused. */
export function endingOf({ code, signal, stderr, starved, excuse }: Ended): Ending {
  const lines = stderr.split('\n');
  const isExcuse = (line: string): boolean => excuse?.test(line) === true;
  const errors = lines.filter((line) => /^\{"level":"(error|fatal)"/.test(line) && !isExcuse(line));
  const isExcused = code === 1 && errors.length === 0 && lines.some(isExcuse);
  const lacked = isExcused ? 'lacked what it needs' : 'by itself';
  const why = signal === 'SIGKILL' ? 'killed' : starved && signal !== null ? 'lacked memory' : lacked;
  return { why, errors: starved ? [] : errors };
}
