import { inspect } from 'node:util';
import type { App } from './stage/app.ts';

/** What failed, the end of each app's log, and where in the demo it was noticed. */
export async function describeFailure(
  error: unknown,
  apps: readonly Pick<App, 'title' | 'log' | 'logTail'>[],
): Promise<string> {
  const logs = await Promise.all(
    apps.map(async (app) => [`The last lines of ${app.title}:`, ...(await app.logTail()), ''].join('\n')),
  );
  const message = error instanceof Error ? error.message : String(error);
  return ['', `The demo failed: ${message}`, '', ...logs, inspect(error), ''].join('\n');
}
