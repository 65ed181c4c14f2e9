import { type Cidr, parseCidr } from '@kube-semaphore/net';
import * as z from 'zod/mini';
import type { Read } from '../clusters/objects.ts';
import { ALL, type Masquerader, objectText } from './masquerader.ts';
import { containersOf, type DaemonSet, hasFlag, mapKey, type MasqueradeObjects, mountedMaps } from './objects.ts';

const netConf = z.object({ Network: z.optional(z.string()), IPv6Network: z.optional(z.string()) });

/** Those with `flanneld --ip-masq`: kube-flannel, and Canal. */
export const isFlannel = (daemonSet: DaemonSet): boolean =>
  containersOf(daemonSet).some((container) => hasFlag(container, 'ip-masq'));

/**
 * flanneld reads `net-conf.json` at its start. It masquerades packets from its network to all other destinations, but
 * multicast, and has no list of exceptions (pkg/trafficmngr/iptables/iptables.go `masqRules`, `masqIP6Rules`;
 * pkg/trafficmngr/nftables/nftables.go `addMasqRules`; main.go: only with `--ip-masq`).
 */
export function flannel({ cluster, daemonSets, configMaps }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  return daemonSets.value.filter(isFlannel).flatMap((daemonSet) => {
    const { namespace, name } = daemonSet.metadata;
    for (const map of mountedMaps(daemonSet)) {
      const data = configMaps.get(mapKey(map));
      if (data?.known === false) return [data];
      const text = data?.value?.['net-conf.json'];
      if (text === undefined) continue;
      const object = { kind: 'ConfigMap', namespace, name: map.name } as const;
      const networks = networksIn(text);
      if (networks === undefined)
        return [{ known: false, why: `${cluster}: net-conf.json of ${objectText(object)} is not valid` }];
      const where = `in net-conf.json of ${objectText(object)}`;
      return flannelWith(networks, (field) => ({
        name: 'flannel',
        object,
        reason: `${field} ${where} doesn't have it`,
      }));
    }
    return [
      { known: false, why: `${cluster}: the DaemonSet ${namespace}/${name} has no ConfigMap with net-conf.json` },
    ];
  });
}

/** The networks of flannel; undefined or all addresses of a family: it doesn't masquerade that family. */
export type Networks = { readonly 4: Cidr | undefined; readonly 6: Cidr | undefined };

/** A masquerader for each family that has a network. */
export const flannelWith = (
  networks: Networks,
  describe: (field: string, network: Cidr) => Pick<Masquerader, 'name' | 'object' | 'reason'>,
): readonly Read<Masquerader>[] =>
  ([4, 6] as const).flatMap((family) => {
    const network = networks[family];
    if (network === undefined || network.prefixLength === 0) return [];
    const value: Masquerader = {
      ...describe(family === 4 ? 'Network' : 'IPv6Network', network),
      pods: [network],
      spares: [network, ALL[family === 4 ? 6 : 4]],
      check: 'sources-kept',
    };
    return [{ known: true, value }];
  });

function networksIn(text: string): Networks | undefined {
  try {
    const { Network, IPv6Network } = netConf.parse(JSON.parse(text));
    const [ipv4, ipv6] = [Network, IPv6Network].map((each) => parseCidr(each ?? '::/0'));
    return ipv4?.ok && ipv6?.ok ? { 4: ipv4.value, 6: ipv6.value } : undefined;
  } catch {
    // It is neither JSON nor what flannel reads.
    return undefined;
  }
}
