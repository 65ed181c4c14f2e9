import { onTestFinished } from 'vitest';

/** Collects the errors that nothing catches until the end of the test. Without it, each would fail the run, and name no test. */
export function uncaughtErrors(): readonly unknown[] {
  const uncaught: unknown[] = [];
  const listen = (error: unknown) => void uncaught.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', listen);
  onTestFinished(() => {
    process.off('uncaughtException', listen);
    for (const other of others) process.on('uncaughtException', other);
  });
  return uncaught;
}
