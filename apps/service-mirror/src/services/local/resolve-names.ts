import { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { AskedName } from '../desired/asked-names.ts';

/** A name with the addresses that DNS has for it, or the code of the error: `ENOTFOUND`, `ESERVFAIL`, `ETIMEOUT`, … */
export type ResolvedName = AskedName & ({ readonly answers: readonly string[] } | { readonly error: string });

/**
 * Asks DNS for the addresses of names, all at once. It doesn't reject.
 *
 * @param resolver by default, one that asks the nameservers in /etc/resolv.conf, as all Pods do, and again after two seconds
 */
export async function resolveNames(
  asked: readonly AskedName[],
  { resolver = new Resolver({ timeout: 2_000, tries: 2 }), timeoutMs = 5_000 } = {},
): Promise<readonly ResolvedName[]> {
  const timer = setTimeout(() => resolver.cancel(), timeoutMs).unref();
  const resolved = await Promise.all(asked.map((each) => resolve(each, resolver)));
  clearTimeout(timer);
  return resolved;
}

async function resolve(asked: AskedName, resolver: Resolver): Promise<ResolvedName> {
  try {
    // With the last dot, no domain of the search list is tried.
    const name = `${asked.name}.`;
    const answers = await (isIPv6(asked.address) ? resolver.resolve6(name) : resolver.resolve4(name));
    return { ...asked, answers };
  } catch (error) {
    const { code = 'EUNKNOWN' } = error as NodeJS.ErrnoException;
    return { ...asked, error: code === 'ECANCELLED' ? 'ETIMEOUT' : code };
  }
}
