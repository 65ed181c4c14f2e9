import type { Dependencies } from '../dependencies.ts';
import { redacted } from '../transport/endpoint.ts';
import { ClusterAuthError, reasonOf } from '../errors.ts';
import { fetchText } from '../transport/fetch-text.ts';
import { type Rotating, singleFlight } from '../credentials/rotating.ts';
import type { Pem } from './pem.ts';

/** A CA that no longer verifies the API server is fetched again at most this often: its server may be small. */
const RENEW_INTERVAL_MS = 60_000;

/**
 * A CA at an http: or https: URL. It is fetched when it is first needed, and again when it no longer verifies the API
 * server. If that fails, the last CA stays.
 *
 * @param read returns the trusted certificates of the text, or throws a ClusterAuthError
 */
export function fetchedCa(url: URL, read: (pem: Pem) => string, deps: Dependencies): Rotating<string> {
  const { clock, log } = deps;
  const where = redacted(url);
  let value: string | undefined;
  let fetchedMs = 0;

  const fetch = singleFlight(async () => {
    fetchedMs = clock.monotonicMs();
    value = read({ text: await download(url, where, deps), where });
    return value;
  });

  return {
    current: async () => value ?? fetch(),
    async renew() {
      if (clock.monotonicMs() - fetchedMs < RENEW_INTERVAL_MS) return;
      const before = value;
      try {
        if ((await fetch()) !== before) log.info({ url: where }, 'CA replaced');
      } catch (error) {
        log.warn({ url: where, err: error }, 'CA can not be fetched; the last one stays in use');
      }
    },
  };
}

async function download(url: URL, where: string, deps: Dependencies): Promise<string> {
  try {
    return await fetchText(url, { follows: 'same-host' }, deps);
  } catch (cause) {
    if (cause instanceof ClusterAuthError) throw cause;
    throw new ClusterAuthError('CLUSTER_CA_FETCH', `the CA can't be fetched from ${where}: ${reasonOf(cause)}`, {
      cause,
    });
  }
}
