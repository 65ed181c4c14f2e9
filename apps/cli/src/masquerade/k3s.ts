import { mustParseCidr } from '@kube-semaphore/net';
import * as z from 'zod/mini';
import type { NodeFacts, Read } from '../clusters/objects.ts';
import { flannelWith } from './flannel.ts';
import { type Masquerader, rangesIn } from './masquerader.ts';
import type { MasqueradeObjects } from './objects.ts';

const argsPage = z.array(z.string());

/** Unless told otherwise, if the first address of its first server is IPv4. */
const CLUSTER_CIDR = mustParseCidr('10.42.0.0/16');

/**
 * The flannel inside k3s, which tells the arguments of each node in an annotation (pkg/nodeconfig/nodeconfig.go). It always
 * masquerades IPv4, and IPv6 with `--flannel-ipv6-masq` (pkg/agent/flannel/flannel.go). Its network is `--cluster-cidr`,
 * unless a file of the node has another one, by `--flannel-conf` (pkg/agent/flannel/setup.go `createFlannelConf`,
 * pkg/cli/server/server.go).
 */
export function k3s({ cluster, nodes }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!nodes.known) return [nodes];
  const args = nodes.value.map(argsOf).filter((words) => words.length > 0);
  const usesFlannel = nodes.value.some(
    ({ annotations }) => annotations['flannel.alpha.coreos.com/kube-subnet-manager'] === 'true',
  );
  if (args.length === 0 || !usesFlannel) return [];
  const valuesOf = (flag: string) =>
    args.flatMap((words) => words.flatMap((word, i) => (word === flag ? (words[i + 1] ?? '') : [])));
  if (valuesOf('--flannel-backend').includes('none') || valuesOf('--no-flannel').length > 0) return [];
  const unknown = (why: string) => [{ known: false, why: `${cluster}: ${why}` } as const];
  const [file] = valuesOf('--flannel-conf');
  if (file !== undefined)
    return unknown("k3s has --flannel-conf, and the Network in that file of its nodes isn't known");
  const told = valuesOf('--cluster-cidr').flatMap((value) => value.split(','));
  const isServerKnown = args.some(([command]) => command === 'server');
  const podCidrs = nodes.value.flatMap((node) => node.podCidrs);
  if (told.length === 0 && (!isServerKnown || podCidrs.some((cidr) => cidr.includes(':'))))
    return unknown("the --cluster-cidr of k3s isn't known");
  const ranges = told.length === 0 ? [CLUSTER_CIDR] : rangesIn(told);
  const networks = {
    4: ranges.find(({ family }) => family === 4),
    6: valuesOf('--flannel-ipv6-masq').length > 0 ? ranges.find(({ family }) => family === 6) : undefined,
  };
  return flannelWith(networks, (field, { text }) => ({
    name: 'k3s',
    object: undefined,
    reason: `${field} of its flannel, ${text}, doesn't have it`,
  }));
}

/** Its command, then flags and their values as single words. */
function argsOf({ annotations }: NodeFacts): readonly string[] {
  try {
    return argsPage.parse(JSON.parse(annotations['k3s.io/node-args'] ?? '[]'));
  } catch {
    // Only k3s writes what is meant here.
    return [];
  }
}
