import { type Cidr, parseCidr } from '@kube-semaphore/net';
import type { Read } from '../clusters/objects.ts';
import { allReserved, readMasqConfig } from './ip-masq-agent.ts';
import { ALL, type Masquerader, objectText } from './masquerader.ts';
import { type DaemonSet, type Data, isTrue, type MasqueradeObjects } from './objects.ts';

export const isCilium = ({ metadata }: DaemonSet): boolean =>
  metadata.namespace === 'kube-system' && metadata.name === 'cilium';

const settings = { kind: 'ConfigMap', namespace: 'kube-system', name: 'cilium-config' } as const;
const agentFile = { kind: 'ConfigMap', namespace: 'kube-system', name: 'ip-masq-agent' } as const;

/** The ConfigMaps that say what Cilium masquerades. */
export const ciliumMaps = [settings, agentFile];

/**
 * Cilium masquerades packets to addresses outside `ipv4-native-routing-cidr`, or without it outside the Pods of the node; on
 * clouds, it finds the VPC (pkg/datapath/iptables/iptables.go `allEgressMasqueradeCmds`, pkg/ipam/crd.go). In eBPF (bpf/lib/nat.h
 * `snat_v4_needs_masquerade`), only its programs do, which are on devices that have an address, or that the user chose
 * (pkg/datapath/linux/devices_controller.go `isSelectedDevice`); and with `enable-ip-masq-agent`, it also spares what the file
 * of that agent has (pkg/ipmasq/ipmasq.go).
 */
export function cilium({ cluster, daemonSets, configMaps }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  if (!daemonSets.value.some(isCilium)) return [];
  const [data, file] = ciliumMaps.map(({ namespace, name }) => configMaps.get(`${namespace}/${name}`));
  if (data?.known === false) return [data];
  if (data?.value === undefined)
    return [{ known: false, why: `${cluster}: there is no ${objectText(settings).slice(4)}` }];
  const config = data.value;
  const hasAgent = isTrue(config['enable-ip-masq-agent']);
  if (hasAgent && file?.known === false) return [file];
  const spared = hasAgent
    ? sparedByAgent(file?.known === true ? file.value : undefined)
    : { ok: true as const, value: [] };
  if (!spared.ok) return [{ known: false, why: `${cluster}: ${objectText(agentFile)}: ${spared.reason}` }];
  return ([4, 6] as const).flatMap((family): readonly Read<Masquerader>[] => {
    const isOn = (key: string): boolean => isTrue(config[key] ?? 'true');
    if (!isOn(`enable-ipv${family}`) || !isOn(`enable-ipv${family}-masquerade`)) return [];
    const field = `ipv${family}-native-routing-cidr`;
    const routed = parseCidr(config[field] ?? '');
    const [where, what] = hasAgent ? [agentFile, 'nonMasqueradeCIDRs'] : [settings, field];
    const value: Masquerader = {
      name: 'Cilium',
      object: where,
      reason: `${what} of ${objectText(where)} doesn't have it`,
      spares: [...(routed.ok ? [routed.value] : []), ...spared.value, ALL[family === 4 ? 6 : 4]],
      ...exceptions(config, routed.ok),
      check: 'sources-kept',
    };
    return [{ known: true, value }];
  });
}

/** What else it spares. */
function exceptions(config: Data, isRoutedKnown: boolean): Pick<Masquerader, 'devices' | 'unless'> {
  if (isTrue(config['enable-bpf-masquerade'])) return { unless: 'they leave by a device without a program of Cilium' };
  if (isTrue(config['enable-masquerade-to-route-source'])) return { unless: 'their route has no source address' };
  if (!isRoutedKnown && ['eni', 'alibabacloud'].includes(config['ipam'] ?? '')) return { unless: 'the VPC has it' };
  const devices = (config['egress-masquerade-interfaces'] ?? '').split(/[\s,]+/).filter((each) => each !== '');
  return devices.length === 0 ? {} : { devices };
}

/** Without a file, or with an empty one, these are the reserved ranges. */
function sparedByAgent(data: Data | undefined) {
  const text = data?.['config'] ?? '';
  if (text === '') return { ok: true, value: allReserved } as const;
  const read = readMasqConfig(text, { hasIpv6: true, isStrict: false });
  return read.ok ? { ok: true as const, value: read.value ?? ([] as readonly Cidr[]) } : read;
}
