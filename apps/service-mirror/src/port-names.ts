import type { Left } from '@kube-semaphore/app';
import type { Reading } from './read-service.ts';
import type { SourceService } from './source.ts';

/** At most this many characters in a comment of nftables (NFTNL_UDATA_COMMENT_MAXLEN); with more the whole transaction fails. */
const MAX_COMMENT = 128;

/**
 * A source without the ports whose names are too long for the local Service: kube-proxy in nftables mode comments what it
 * writes with `<namespace>/<service>:<port>`, which may have 191 characters, and then fails with all Services. A Service
 * that is left without any port isn't one.
 *
 * @param local the local Service
 */
export function withoutLongPortNames(source: SourceService, local: { readonly namespace: string; readonly name: string }): Reading<SourceService> {
  const most = MAX_COMMENT - `${local.namespace}/${local.name}:`.length;
  const { definition } = source;
  const ports = definition.ports.filter(({ name }) => name.length <= most);
  if (ports.length === definition.ports.length) return { value: source, skipped: [] };
  const skipped: Left[] = definition.ports
    .filter(({ name }) => name.length > most)
    .map(({ name }) => ({ kind: 'problem', reason: 'port-name-too-long', detail: `the name of its port ${name} is ${name.length - most} characters too long beside ${local.name}` }));
  return { value: ports.length === 0 ? undefined : { ...source, definition: { ...definition, ports } }, skipped };
}
