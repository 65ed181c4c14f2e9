/** The message of an error and of its causes. It may contain text of others, which isn't printable yet. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : wordsOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
