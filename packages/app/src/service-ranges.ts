import { setTimeout as delay } from 'node:timers/promises';
import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { type Cidr, parseCidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';

export type ServiceRangesOptions = RunOptions & { readonly log: Logger; readonly retryMs?: number };

/** Kubernetes 1.33 and later; 1.31 and 1.32 have it as a beta, which is off by default. */
const PATH = '/apis/networking.k8s.io/v1/servicecidrs';

/**
 * The Service ranges of the local cluster, as its ServiceCIDRs name them: no remote has a Pod in them. None where the
 * API is not there (404) or not allowed (403); any other failure says nothing, and is tried again.
 *
 * @throws the signal's reason when that is aborted
 */
export async function localServiceRanges(client: Pick<KubeClient, 'getRaw'>, { signal, log, retryMs = 1_000 }: ServiceRangesOptions): Promise<readonly Cidr[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const ranges = rangesIn(await client.getRaw(PATH, { signal }));
      log.info({ ranges: ranges.map(({ text }) => text) }, 'Service ranges of the local cluster read');
      return ranges;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof KubeApiError && [403, 404].includes(error.status)) {
        log.info({ status: error.status }, 'ServiceCIDRs of the local cluster cannot be read: name its Service ranges with -local-cidrs');
        return [];
      }
      log[attempt === 1 ? 'warn' : 'debug']({ error }, 'ServiceCIDRs of the local cluster not read, retrying');
    }
    await delay(retryMs, undefined, { signal });
  }
}

/** @param list a ServiceCIDRList, or whatever else the server sent */
export function rangesIn(list: unknown): readonly Cidr[] {
  const { items } = asRecord(list);
  if (!Array.isArray(items)) throw new Error('the answer is not a ServiceCIDRList');
  const texts = items.flatMap((item) => asRecord(asRecord(item)['spec'])['cidrs'] ?? []);
  return texts.flatMap((text) => {
    const cidr = typeof text === 'string' ? parseCidr(text) : undefined;
    return cidr?.ok === true ? [cidr.value] : [];
  });
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
