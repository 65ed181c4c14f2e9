import { setImmediate as breathe } from 'node:timers/promises';
import { printable } from '@kube-semaphore/text';
import type { ProfileRemote } from './profile.ts';

type Checked = { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

/** The settings with those remotes of an inventory that fit, and why each other one is refused, by profile. */
export type Admitted<T> = { readonly settings: T; readonly refused: ReadonlyMap<string, string> };

/**
 * Adds remotes of an inventory to a config file, in their order, each if the file is valid with it: it may take neither a name
 * nor anything else of a remote that is there.
 *
 * @param settingsOf what the file says with these remotes
 * @returns settings with problems only if the file alone has them
 */
export async function admit<T extends Checked>(
  remotes: readonly ProfileRemote[],
  settingsOf: (remotes: readonly ProfileRemote[]) => T | Promise<T>,
): Promise<Admitted<T>> {
  const refused = new Map<string, string>();
  let [admitted, settings]: [readonly ProfileRemote[], T] = [[], await settingsOf([])];
  /** Halves of what doesn't fit as a whole, as the settings of hundreds of remotes take long. */
  const add = async (more: readonly ProfileRemote[]): Promise<void> => {
    // Many that don't fit take seconds, in which all else must go on.
    await breathe();
    const next = await settingsOf([...admitted, ...more]);
    if (next.ok) [admitted, settings] = [[...admitted, ...more], next];
    else if (more.length === 1) refused.set(more[0]!.profile, reasonOf(next.problems));
    else for (const half of halves(more)) await add(half);
  };
  if (settings.ok && remotes.length > 0) await add(remotes);
  return { settings, refused };
}

function halves<T>(all: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
}

/** Without the place in the file, where the remote isn't: `remotes[3].name: `. One object can have thousands. */
const reasonOf = (problems: readonly string[]): string =>
  printable(problems.map((problem) => problem.replace(/^\w+\[\d+\]\.?/, '')).join('; '));
