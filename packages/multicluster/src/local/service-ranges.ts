import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { asRecord } from '@kube-semaphore/kube-objects';
import { type Cidr, parseCidr } from '@kube-semaphore/net';
import type { Logger } from '@kube-semaphore/runtime';
import { untilAnswered } from '../until-answered.ts';

export type ServiceRangesOptions = RunOptions & { readonly log: Logger; readonly retryMs?: number };

/** Kubernetes 1.33 and later; 1.31 and 1.32 have it as a beta, which is off by default. */
const PATH = '/apis/networking.k8s.io/v1/servicecidrs';

/**
 * The Service ranges of the local cluster, from its ServiceCIDRs: no remote has a Pod in them. Empty if the API is
 * missing (404) or forbidden (403). Retries after any other failure, as the ranges are unknown then.
 *
 * @throws the signal's reason when that is aborted
 */
export async function localServiceRanges(
  client: Pick<KubeClient, 'getRaw'>,
  { signal, log, retryMs = 1_000 }: ServiceRangesOptions,
): Promise<readonly Cidr[]> {
  let level: 'warn' | 'debug' = 'warn';
  const onFailure = (error: unknown): void => {
    log[level]({ error }, 'ServiceCIDRs of the local cluster not read, retrying');
    level = 'debug';
  };
  const ask = async (): Promise<readonly Cidr[]> => {
    try {
      const ranges = rangesIn(await client.getRaw(PATH, { signal }));
      log.info({ ranges: ranges.map(({ text }) => text) }, 'Service ranges of the local cluster read');
      return ranges;
    } catch (error) {
      if (!(error instanceof KubeApiError && [403, 404].includes(error.status))) throw error;
      const message = 'ServiceCIDRs of the local cluster cannot be read: name its Service ranges with -local-cidrs';
      log.info({ status: error.status }, message);
      return [];
    }
  };
  return untilAnswered(ask, { signal, onFailure, retryMs });
}

/** @param list a ServiceCIDRList, or anything else that the server sent */
export function rangesIn(list: unknown): readonly Cidr[] {
  const { items } = asRecord(list);
  if (!Array.isArray(items)) throw new Error('the answer is not a ServiceCIDRList');
  const texts = items.flatMap((item) => asRecord(asRecord(item)['spec'])['cidrs'] ?? []);
  return texts.flatMap((text) => {
    const cidr = typeof text === 'string' ? parseCidr(text) : undefined;
    return cidr?.ok === true ? [cidr.value] : [];
  });
}
