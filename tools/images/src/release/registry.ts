/** Whether a registry runs on this machine, where it has no TLS. */
export const isLocal = (registry: string): boolean => /^(?:localhost|127\.0\.0\.1)[:/]/.test(registry);

/**
 * The digest that a program printed of what it pushed.
 *
 * @throws {Error} if it printed none
 */
export function digestIn(output: string, pushed: string): string {
  const digest = /sha256:[0-9a-f]{64}/.exec(output)?.[0];
  if (digest === undefined) throw new Error(`no digest of ${pushed} was printed`);
  return digest;
}
