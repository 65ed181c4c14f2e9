import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Reading, SourceService } from './source.ts';

/** Characters in a comment of nftables (NFTNL_UDATA_COMMENT_MAXLEN): a longer one fails the whole transaction. */
const MAX_COMMENT = 128;

/** Of a local Service. */
type LocalName = { readonly namespace: string; readonly name: string };

/**
 * A source without the ports whose names are too long for the local Service. Without any port left, there is no Service.
 */
export function withoutLongPortNames(source: SourceService, local: LocalName): Reading<SourceService> {
  const { definition } = source;
  const { ports, skipped } = shortPortNames(definition.ports, local);
  if (skipped.length === 0) return { value: source, skipped };
  return { value: ports.length === 0 ? undefined : { ...source, definition: { ...definition, ports } }, skipped };
}

/**
 * The ports whose names aren't too long for the local Service. In nftables mode, kube-proxy writes comments like
 * `<namespace>/<service>:<port>`. One that is too long makes it fail for all Services.
 */
export function shortPortNames<P extends { readonly name: string }>(
  all: readonly P[],
  { namespace, name: local }: LocalName,
): { readonly ports: readonly P[]; readonly skipped: readonly Diagnostic[] } {
  const most = MAX_COMMENT - `${namespace}/${local}:`.length;
  const ports = all.filter(({ name }) => name.length <= most);
  const skipped = all
    .filter(({ name }) => name.length > most)
    .map(({ name }): Diagnostic => {
      const detail = `the name of its port ${name} is ${name.length - most} characters too long beside ${local}`;
      return { kind: 'problem', reason: 'port-name-too-long', detail };
    });
  return { ports, skipped };
}
