import { type Reached, semaphore } from './semaphore.ts';

/** The names of the checks that find a problem or a warning, in their order. */
export async function findingsIn(sides: readonly Reached[]): Promise<readonly string[]> {
  const { checks } = (await reportOf(sides, 'check')) as { readonly checks: readonly Check[] };
  return checks.filter(({ result }) => result === 'problem' || result === 'warning').map(({ name }) => name);
}

/** The first wrong hop of a packet; null: none is known to be wrong. */
export async function wrongHopOf(sides: readonly Reached[], from: string, to: string): Promise<string | null> {
  const explanation = await reportOf(sides, 'explain', `--from=${from}`, `--to=${to}`);
  return (explanation as { readonly firstWrong: string | null }).firstWrong;
}

type Check = { readonly name: string; readonly result: string };

/** The JSON of a command, also if it found something. */
async function reportOf(sides: readonly Reached[], command: string, ...flags: readonly string[]): Promise<unknown> {
  const text = await semaphore(sides, command, '--output=json', ...flags).catch((error: Error) => {
    const { code, stdout } = error.cause as { readonly code?: number; readonly stdout?: string };
    if (code !== 1 || !stdout) throw error;
    return stdout;
  });
  return JSON.parse(text) as unknown;
}
