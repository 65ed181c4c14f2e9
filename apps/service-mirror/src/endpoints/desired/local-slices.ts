import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Definition, Endpoint, SlicePort, SourceSlice } from './source.ts';

type LocalSlices = { readonly slices: readonly SourceSlice[]; readonly skipped: readonly Diagnostic[] };

/**
 * The slices of a Service as the local one needs them. CoreDNS answers with the endpoints of a headless Service by
 * hostname: each has the name of its Pod where it has none. Clients of a Service with an address need the number of each
 * port; without it, some fail.
 */
export function localSlices(slices: readonly SourceSlice[], { headless }: Pick<Definition, 'headless'>): LocalSlices {
  if (headless) return { slices: slices.map(withHostnames), skipped: [] };
  if (slices.every(({ ports }) => ports.every(hasNumber))) return { slices, skipped: [] };
  const local: SourceSlice[] = [];
  const skipped: Diagnostic[] = [];
  for (const slice of slices) {
    const ports = slice.ports.filter(hasNumber);
    const isWhole = ports.length === slice.ports.length;
    // Without ports, it would mean something else.
    const isLost = !isWhole && ports.length === 0;
    if (!isLost) local.push(isWhole ? slice : { ...slice, ports });
    if (isWhole) continue;
    const what = isLost ? 'only ports without a number, so it is skipped' : 'a port without a number, which is skipped';
    const detail = `its slice ${slice.namespace}/${slice.name} has ${what}`;
    skipped.push({ kind: 'problem', reason: 'bad-port', detail });
  }
  return { slices: local, skipped };
}

const hasNumber = ({ port }: SlicePort): boolean => port !== undefined;

function withHostnames(slice: SourceSlice): SourceSlice {
  const { endpoints, pods } = slice;
  if (pods === undefined) return slice;
  const named = endpoints.map((endpoint, i): Endpoint => ({
    ...endpoint,
    hostname: endpoint.hostname ?? (pods[i] || undefined),
  }));
  return { ...slice, endpoints: named };
}
