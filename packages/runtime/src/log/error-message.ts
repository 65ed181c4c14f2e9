/** What an error says, and what its causes say besides. It may repeat words of others: whoever prints it makes them printable. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : wordsOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
