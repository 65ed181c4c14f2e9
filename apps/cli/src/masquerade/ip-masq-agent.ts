import { type Cidr, mustParseCidr, parseCidr } from '@kube-semaphore/net';
import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Read } from '../clusters/objects.ts';
import { ALL, type Masquerader, objectText } from './masquerader.ts';
import {
  containersOf,
  type DaemonSet,
  type Data,
  hasFlag,
  mapKey,
  type MasqueradeObjects,
  mountedMaps,
} from './objects.ts';

const config = z.object({ nonMasqueradeCIDRs: z.nullish(z.array(z.string())), cidrLimit: z.optional(z.number()) });

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

/** Other ranges that RFCs reserve. */
const RESERVED = [
  '100.64.0.0/10',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
];

/** What Cilium's agent spares without a file, as this one with `--nomasq-all-reserved-ranges`. */
export const allReserved: readonly Cidr[] = [...PRIVATE, ...RESERVED].map(mustParseCidr);

export const isIpMasqAgent = ({ metadata: { name } }: DaemonSet): boolean =>
  name === 'ip-masq-agent' || name === 'azure-ip-masq-agent';

/**
 * The agent masquerades all packets to addresses that its files don't have, IPv6 only with `--enable-ipv6`. Without a file,
 * it spares private ranges. The first one (kubernetes-sigs/ip-masq-agent: cmd/ip-masq-agent/ip-masq-agent.go `syncConfig`,
 * `validate`) reads one file, which overrides this default field by field; that of Azure (Azure/ip-masq-agent-v2:
 * cmd/ip-masq-agent-v2/ip-masq-agent.go) merges all files whose names begin with `ip-masq`, without the default. One CIDR
 * that it refuses makes it refuse the whole file.
 */
export function ipMasqAgent({ cluster, daemonSets, configMaps }: MasqueradeObjects): readonly Read<Masquerader>[] {
  if (!daemonSets.known) return [daemonSets];
  return daemonSets.value.filter(isIpMasqAgent).map((daemonSet): Read<Masquerader> => {
    const containers = containersOf(daemonSet);
    const isSecond = containers.some(({ image }) => image.includes('ip-masq-agent-v2'));
    const isFile = (path: string): boolean => (isSecond ? path.startsWith('ip-masq') : path === 'ip-masq-agent');
    const hasIpv6 = containers.some((container) => hasFlag(container, 'enable-ipv6'));
    const isWide = containers.some((container) => hasFlag(container, 'nomasq-all-reserved-ranges'));
    const defaults = isWide ? allReserved : PRIVATE.map(mustParseCidr);
    const maps = mountedMaps(daemonSet);
    const spares: Cidr[] = hasIpv6 ? [] : [ALL[6]];
    let hasFile = false;
    for (const map of maps) {
      const data = configMaps.get(mapKey(map));
      if (data?.known === false) return data;
      for (const text of filesOf(map.items, data?.value, isFile)) {
        const cidrs = readMasqConfig(text, { hasIpv6, isStrict: true });
        if (!cidrs.ok) return { known: false, why: `${cluster}: the ConfigMap ${mapKey(map)}: ${cidrs.reason}` };
        hasFile = true;
        spares.push(...(cidrs.value ?? (isSecond ? [] : defaults)));
      }
    }
    const { namespace, name } = daemonSet.metadata;
    // Azure writes the other one again.
    const own = maps.find((map) => !map.name.endsWith('-reconciled'));
    if (own === undefined)
      return { known: false, why: `${cluster}: the DaemonSet ${namespace}/${name} has no ConfigMap of yours` };
    const object = { kind: 'ConfigMap', namespace, name: own.name } as const;
    const reason = `nonMasqueradeCIDRs of ${objectText(object)} doesn't have it`;
    const all = hasFile ? spares : [...spares, ...defaults];
    return { known: true, value: { name: 'ip-masq-agent', object, reason, spares: all, check: 'sources-kept' } };
  });
}

/** The texts of the files that a volume makes of a ConfigMap. */
const filesOf = (
  items: ReturnType<typeof mountedMaps>[number]['items'],
  data: Data | undefined,
  isFile: (path: string) => boolean,
): readonly string[] =>
  (items ?? Object.keys(data ?? {}).map((key) => ({ key, path: key })))
    .filter(({ path }) => isFile(path))
    .flatMap(({ key }) => data?.[key] ?? []);

/**
 * The ranges in a file of the agent; undefined: the file doesn't have the field.
 *
 * @param isStrict refuse what the agent refuses, also IPv6 without its flag, and addresses that don't begin a block
 */
export function readMasqConfig(
  text: string,
  { hasIpv6, isStrict }: { readonly hasIpv6: boolean; readonly isStrict: boolean },
):
  | { readonly ok: true; readonly value: readonly Cidr[] | undefined }
  | { readonly ok: false; readonly reason: string } {
  const parsed = parseYaml(text);
  const checked = parsed.ok ? config.safeParse(parsed.value ?? {}) : undefined;
  if (checked?.success !== true) return { ok: false, reason: 'its file is not what the agent reads' };
  const { nonMasqueradeCIDRs: texts, cidrLimit = 64 } = checked.data;
  if (!texts) return { ok: true, value: undefined };
  if (isStrict && texts.length > cidrLimit)
    return { ok: false, reason: `the agent refuses more than ${cidrLimit} ranges, and it has ${texts.length}` };
  const value: Cidr[] = [];
  for (const each of texts) {
    const cidr = parseCidr(each);
    if (!cidr.ok) return { ok: false, reason: `the agent refuses its file: ${cidr.reason}` };
    const { family, text: block } = cidr.value;
    if (isStrict && family === 4 && block !== each)
      return { ok: false, reason: `the agent refuses its file: the block of ${each} begins at ${block}` };
    if (isStrict && family === 6 && !hasIpv6)
      return { ok: false, reason: `the agent refuses its file: it has ${block}, and no flag --enable-ipv6` };
    value.push(cidr.value);
  }
  return { ok: true, value };
}
