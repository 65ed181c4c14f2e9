import { namespaceKind, podOnNodeKind } from '@kube-semaphore/kube-objects';
import type { Context } from '../../clusters/contexts.ts';
import { allOf, listObjects, mapRead, type Read, type Run } from '../../clusters/objects.ts';
import { isReady, portOf } from '../../clusters/report.ts';
import { get } from '../../clusters/request.ts';
import { corefileHashes } from '../../corefile/hash.ts';
import { parseCorefile } from '../../corefile/parse.ts';
import { namespaceSelectors } from '../../corefile/faults.ts';
import { customFiles, type DnsConfig, type StoredCorefile } from '../../dns/config.ts';

/** A Pod of the cluster's DNS server. */
export type DnsPod = {
  /** `kube-system/coredns-0`. */
  readonly name: string;
  readonly ready: boolean;
  /** Whether CoreDNS uses the Corefile of the ConfigMap; undefined: it doesn't say. */
  readonly isCurrent: Read<boolean | undefined>;
};

const NAMESPACE = 'kube-system';

/** Where CoreDNS has its metrics, if the Pod doesn't say otherwise. */
const METRICS_PORT = 9153;

const TIMEOUT_MS = 10_000;

/** Where kubeadm and others put them; none for another DNS server. */
export async function readDns(
  context: Context,
  config: Promise<Read<DnsConfig>>,
  run: Run,
): Promise<Read<readonly DnsPod[]>> {
  const selected = { namespace: NAMESPACE, labelSelector: 'k8s-app=kube-dns' };
  const both = allOf({ pods: await listObjects(context, podOnNodeKind, selected, run), config: await config });
  if (!both.known) return both;
  const { corefile } = both.value.config;
  const found = both.value.pods.map(async (pod): Promise<DnsPod> => {
    const name = `${NAMESPACE}/${pod.metadata.name}`;
    const ready = isReady(pod);
    if (!ready || corefile === undefined || !/^\s*prometheus\b/m.test(corefile.text))
      return { name, ready, isCurrent: { known: true, value: undefined } };
    const port = portOf(pod.spec, 'metrics') ?? METRICS_PORT;
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod.metadata.name}:${port}/proxy/metrics`;
    try {
      const metrics = await get(context, path, { ...run, timeoutMs: TIMEOUT_MS });
      return { name, ready, isCurrent: { known: true, value: isCurrent(metrics, corefile) } };
    } catch (error) {
      run.signal.throwIfAborted();
      const why = `${context.name}: ${name} doesn't report its metrics: ${(error as Error).message}`;
      return { name, ready, isCurrent: { known: false, why } };
    }
  });
  return { known: true, value: await Promise.all(found) };
}

/** @returns undefined if that can't be known */
export function isCurrent(metrics: string, { text, changedMs }: StoredCorefile): boolean | undefined {
  const [, hash] = /^coredns_reload_version_info\{.*\bvalue="([^"]+)"/m.exec(metrics) ?? [];
  if (hash !== undefined) {
    const hasFailed = /^coredns_reload_failed_total [1-9]/m.test(metrics);
    // A release that makes the hash in another way isn't wrong for that.
    return corefileHashes(text)?.has(hash) || (hasFailed ? false : undefined);
  }
  // It didn't load another Corefile since it started.
  const [, startSeconds] = /^process_start_time_seconds (\S+)$/m.exec(metrics) ?? [];
  const isKnown = startSeconds !== undefined && Number.isFinite(changedMs);
  return isKnown ? Number(startSeconds) * 1_000 >= changedMs : undefined;
}

/** A Corefile has one, if any. */
const MAX_SELECTORS = 10;

/** The namespaces that each selector in the Corefile finds: `namespace_labels` hides all others. */
export async function readSelectedNamespaces(
  context: Context,
  config: Promise<Read<DnsConfig>>,
  run: Run,
): Promise<Read<ReadonlyMap<string, readonly string[]>>> {
  const found = await config;
  if (!found.known) return found;
  const parsed = parseCorefile(found.value.corefile?.text ?? '', customFiles(found.value));
  const selectors = parsed.ok ? namespaceSelectors(parsed.value).slice(0, MAX_SELECTORS) : [];
  const lists = selectors.map(async (labelSelector) => {
    const namespaces = await listObjects(context, namespaceKind, { labelSelector }, run);
    return [labelSelector, mapRead(namespaces, (all) => all.map(({ metadata }) => metadata.name))] as const;
  });
  return mapRead(allOf(Object.fromEntries(await Promise.all(lists))), (found) => new Map(Object.entries(found)));
}
