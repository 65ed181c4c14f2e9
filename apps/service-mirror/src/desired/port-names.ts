import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Reading, SourceService } from './source.ts';

/** In a comment of nftables (NFTNL_UDATA_COMMENT_MAXLEN); with more characters the whole transaction fails. */
const MAX_COMMENT = 128;

/** Of a local Service. */
type LocalName = { readonly namespace: string; readonly name: string };

/**
 * A source without the ports whose names are too long for the local Service: kube-proxy in nftables mode comments what
 * it writes with `<namespace>/<service>:<port>`, which may have 191 characters, and then fails with all Services. A
 * Service that is left without any port isn't one.
 */
export function withoutLongPortNames(
  source: SourceService,
  { namespace, name: local }: LocalName,
): Reading<SourceService> {
  const most = MAX_COMMENT - `${namespace}/${local}:`.length;
  const { definition } = source;
  const ports = definition.ports.filter(({ name }) => name.length <= most);
  if (ports.length === definition.ports.length) return { value: source, skipped: [] };
  const skipped = definition.ports
    .filter(({ name }) => name.length > most)
    .map(({ name }): Diagnostic => {
      const detail = `the name of its port ${name} is ${name.length - most} characters too long beside ${local}`;
      return { kind: 'problem', reason: 'port-name-too-long', detail };
    });
  return { value: ports.length === 0 ? undefined : { ...source, definition: { ...definition, ports } }, skipped };
}
