import { type Clusters, userOf } from '../load/clusters.ts';
import { countVerbs, type VerbCounts } from '../measure/requests.ts';

/** The requests of one program, on both sides. */
export type Requests = { readonly remote: VerbCounts; readonly local: VerbCounts };

/** All requests of a program so far. */
export async function requestsOf(
  { remotes, local }: Pick<Clusters, 'remotes' | 'local'>,
  account: string,
): Promise<Requests> {
  const user = userOf(account);
  const seen = await Promise.all(remotes.map(({ requests }) => requests()));
  return { remote: countVerbs(seen.flat(), user), local: countVerbs(await local.requests(), user) };
}
