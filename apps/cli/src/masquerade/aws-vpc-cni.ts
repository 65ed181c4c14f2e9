import type { Read } from '../clusters/objects.ts';
import { ALL, type Masquerader, objectText, rangesIn } from './masquerader.ts';
import { containersOf, isTrue, type MasqueradeObjects } from './objects.ts';

/**
 * The CNI of AWS replaces the source of IPv4 packets that leave the VPC, but for a list. Only AWS knows the CIDRs of the VPC.
 * In a cluster for IPv6, it replaces none (pkg/networkutils/network.go `UpdateHostSNATRules`, `buildIptablesSNATRules`,
 * `parseCIDRString`).
 */
export function awsVpcCni({ daemonSets }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  const found = daemonSets.value.filter(({ metadata }) => metadata.name === 'aws-node');
  return found.flatMap((daemonSet): readonly Read<Masquerader>[] => {
    const env = new Map(
      containersOf(daemonSet).flatMap((each) => each.env.map(({ name, value }) => [name, value] as const)),
    );
    if (isTrue(env.get('AWS_VPC_K8S_CNI_EXTERNALSNAT')) || isTrue(env.get('ENABLE_IPv6'))) return [];
    const field = 'AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS';
    const excluded = rangesIn((env.get(field) ?? '').split(',')).filter(({ family }) => family === 4);
    const object = { kind: 'DaemonSet', ...daemonSet.metadata } as const;
    const value: Masquerader = {
      name: 'AWS VPC CNI',
      object,
      reason: `${field} of ${objectText(object)} doesn't have it`,
      spares: [...excluded, ALL[6]],
      unless: 'the VPC has it',
      check: 'sources-kept',
    };
    return [{ known: true, value }];
  });
}
