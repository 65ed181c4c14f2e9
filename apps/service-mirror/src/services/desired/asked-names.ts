import { GLOBAL, parseServiceKey, sourceAnnotation } from '../../names.ts';
import { hasReady } from '../../endpoints/desired/objects.ts';
import type { ObservedService } from '../../endpoints/desired/observed.ts';
import { remoteByLabels } from './mirrors/ready-mirrors.ts';
import type { LocalServices } from '../../endpoints/desired/target.ts';

/** A name by which Pods call a mirror or global Service, and the address that they must get. */
export type AskedName = {
  /** The remote; `global` for a global Service. */
  readonly remote: string;
  /** `web.shop.svc.cluster.c2` */
  readonly name: string;
  readonly address: string;
};

/**
 * The names of one mirror of each remote, and of one global Service. It is the oldest one, as a DNS server may not know a new
 * one yet; and it has a ready endpoint, as CoreDNS with `ignore empty_service` knows no others. A mirror has two names if
 * its remote has another prefix: rules that were written by hand may be for the prefix.
 *
 * @param prefixes of the remotes, by cluster
 */
export function askedNames(
  local: Pick<LocalServices, 'slices'> & { services(): readonly ObservedService[] },
  { prefixes, hasGlobals }: { readonly prefixes: ReadonlyMap<string, string>; readonly hasGlobals: boolean },
): readonly AskedName[] {
  const remoteOf = remoteByLabels(prefixes);
  const services = Map.groupBy(local.services(), ({ labels }) => remoteOf(labels));
  const ofGlobals = hasGlobals ? [[GLOBAL, GLOBAL] as const] : [];
  return [...prefixes, ...ofGlobals].flatMap(([remote, prefix]) => {
    const found = (services.get(remote) ?? [])
      .flatMap(({ name, createdAt, ip: address, isTerminating, annotations }) => {
        const source = parseServiceKey(annotations[sourceAnnotation] ?? '');
        return source === undefined || address === undefined || isTerminating
          ? []
          : [{ name, createdAt, address, source }];
      })
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))
      .find(({ name }) => local.slices(name).some(hasReady));
    if (found === undefined) return [];
    const { source, address } = found;
    return Array.from(new Set([remote, prefix]), (zone) => ({
      remote,
      name: `${source.name}.${source.namespace}.svc.cluster.${zone}`,
      address,
    }));
  });
}
