/**
 * Collects the errors that nothing catches. Otherwise each would fail the whole run, and name no test.
 *
 * @returns the errors so far, and what ends the collection: call it when the test has finished
 */
export function uncaughtErrors(): { readonly errors: readonly unknown[]; readonly restore: () => void } {
  const errors: unknown[] = [];
  const listen = (error: unknown) => void errors.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', listen);
  const restore = () => {
    process.off('uncaughtException', listen);
    for (const other of others) process.on('uncaughtException', other);
  };
  return { errors, restore };
}
