import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

type Endpoint = {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly [field: string]: unknown;
};

/** An EndpointSlice, as the API server answers with it. */
export type Slice = KubeObject & { readonly addressType: string; readonly endpoints: readonly Endpoint[] | null };

/** The ready addresses of each Service that has slices, sorted, each once, as kube-proxy sees them. */
export function readyAddresses(slices: readonly Slice[]): Readonly<Record<string, readonly string[]>> {
  const byService = new Map<string, Set<string>>();
  for (const { metadata, endpoints } of slices) {
    const name = metadata.labels?.['kubernetes.io/service-name'] ?? '';
    const addresses = byService.get(name) ?? new Set<string>();
    for (const endpoint of endpoints ?? [])
      if (endpoint.conditions.ready !== false) for (const address of endpoint.addresses) addresses.add(address);
    byService.set(name, addresses);
  }
  return Object.fromEntries(Array.from(byService, ([name, addresses]) => [name, [...addresses].toSorted()]));
}
