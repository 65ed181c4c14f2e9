import { isDeepStrictEqual } from 'node:util';
import type { Parsed } from '@kube-semaphore/net';
import { clusterDomain, corefileWith, corefileWithout, importedRules } from '../corefile/edit.ts';
import { nodeCacheWith, nodeCacheWithout } from '../corefile/node-cache.ts';
import { parseCorefile } from '../corefile/parse.ts';
import { isGone, type Left, nameOf, namesOf, namesToSend, type Wanted, zoneOf } from '../corefile/rules.ts';
import { type DnsServer, firstProblem, importsFault } from '../corefile/faults.ts';
import { customFiles, type DnsConfig, dnsKindOf, serversOf, type StubDomains, stubDomainsIn } from './config.ts';

/** A key of a ConfigMap of a DNS server, and the text that it gets; undefined: it goes. */
export type DnsEdit = { readonly configMap: string; readonly key: string; readonly after: string | undefined };

const COREFILE = { configMap: 'kube-system/coredns', key: 'Corefile' } as const;
const RULES = { configMap: 'kube-system/coredns-custom', key: 'semaphore.server' } as const;
const STUB_DOMAINS = { configMap: 'kube-system/kube-dns', key: 'stubDomains' } as const;

/** What changes so that names resolve. @returns a reason, with the ConfigMap, if that can't be */
export function editsWith(config: DnsConfig, wanted: Wanted): Parsed<readonly DnsEdit[]> {
  const kind = dnsKindOf(config);
  if (kind === 'kube-dns') return editedStubs(config, (stubs) => ({ ...stubs, ...ownStubs(config, wanted) }));
  // By hand: docs/dns.md.
  if (kind !== 'CoreDNS') return { ok: true, value: [] };
  const rules = rulesWith(config, wanted);
  if (!rules.ok) return failed(COREFILE.configMap, rules.reason);
  const { corefile, nodeCache } = config;
  if (nodeCache === undefined) return { ok: true, value: changing(config, rules.value) };
  const { configMap, text } = nodeCache;
  const cache = nodeCacheWith(text, wanted, clusterDomain(corefile!.text));
  if (!cache.ok) return failed(configMap, cache.reason);
  const edits = [...rules.value, { configMap, key: 'Corefile', after: cache.value }];
  const servers = serversOf(edited(config, edits));
  const problem = servers.ok ? problemAt(servers.value, wanted) : servers.reason;
  return problem === undefined ? { ok: true, value: changing(config, edits) } : failed(configMap, problem);
}

function problemAt(servers: readonly DnsServer[], wanted: Wanted): string | undefined {
  return firstProblem(servers, namesOf(wanted)) ?? (wanted.mcs === true ? importsFault(servers) : undefined);
}

/** The config with the texts of some edits. */
export const edited = (config: DnsConfig, edits: readonly DnsEdit[]): DnsConfig =>
  edits.reduce((before: DnsConfig, { configMap, key, after }) => {
    const text = after ?? '';
    if (configMap === COREFILE.configMap) return { ...before, corefile: { ...before.corefile!, text } };
    if (configMap === STUB_DOMAINS.configMap) return { ...before, stubDomains: after };
    if (configMap === before.nodeCache?.configMap) return { ...before, nodeCache: { configMap, text } };
    const others = [...(before.custom ?? [])].filter(([file]) => file !== key);
    return { ...before, custom: new Map(after === undefined ? others : [...others, [key, after]]) };
  }, config);

/** What changes so that names of some clusters go; without a remaining one, all of ours. */
export function editsWithout(config: DnsConfig, left: Left): Parsed<readonly DnsEdit[]> {
  const { corefile, custom, nodeCache } = config;
  const stubs = editedStubs(config, (all) =>
    Object.fromEntries(
      Object.entries(all).filter(([zone]) => {
        const name = nameOf(`${zone}.`);
        return name === undefined || !isGone(left, name);
      }),
    ),
  );
  const edits: DnsEdit[] = [];
  if (stubs.ok) edits.push(...stubs.value);
  for (const [at, text, without] of [
    [COREFILE, corefile?.text, corefileWithout],
    [RULES, custom?.get(RULES.key), corefileWithout],
    [{ configMap: nodeCache?.configMap ?? '', key: 'Corefile' }, nodeCache?.text, nodeCacheWithout],
  ] as const) {
    if (text === undefined) continue;
    const after = without(text, left);
    if (!after.ok) return failed(at.configMap, after.reason);
    edits.push({ ...at, after: after.value.trim() === '' ? undefined : after.value });
  }
  return { ok: true, value: changing(config, edits) };
}

const failed = (configMap: string, reason: string) =>
  ({ ok: false, reason: `ConfigMap ${configMap}: ${reason}` }) as const;

/** Those that change a text. */
const changing = (config: DnsConfig, edits: readonly DnsEdit[]): readonly DnsEdit[] => {
  const before = [
    { ...COREFILE, text: config.corefile?.text },
    { ...RULES, text: config.custom?.get(RULES.key) },
    { configMap: config.nodeCache?.configMap, key: 'Corefile', text: config.nodeCache?.text },
  ];
  return edits.filter(
    ({ configMap, key, after }) =>
      before.find((each) => each.configMap === configMap && each.key === key)?.text !== after,
  );
};

/** Rules are in the Corefile; or, where the platform puts that back, in a file that it imports. */
function rulesWith({ corefile, custom }: DnsConfig, wanted: Wanted): Parsed<readonly DnsEdit[]> {
  const { text } = corefile!;
  const parsed = parseCorefile(text);
  if (!parsed.ok) return parsed;
  const pattern = parsed.value.files.find((file) => /(?:^|\/)custom\/\*\.server$/.test(file));
  if (pattern === undefined) {
    const edited = corefileWith(text, wanted);
    return edited.ok ? { ok: true, value: [{ ...COREFILE, after: edited.value }] } : edited;
  }
  const rest = corefileWithout(text, { removed: [], remaining: [] });
  if (!rest.ok) return rest;
  const others = new Map([...(custom ?? [])].filter(([file]) => file !== RULES.key));
  const importable = customFiles({ custom: others });
  const rules = importedRules(rest.value, wanted, { pattern, file: RULES.key, importable });
  if (!rules.ok) return rules;
  const edits = [
    { ...RULES, after: rules.value },
    { ...COREFILE, after: rest.value },
  ];
  return { ok: true, value: edits };
}

/** Leaves a text that we can't read as it is. */
function editedStubs(
  { stubDomains }: DnsConfig,
  edit: (stubs: StubDomains) => StubDomains,
): Parsed<readonly DnsEdit[]> {
  const before = stubDomainsIn(stubDomains);
  if (!before.ok) return failed(STUB_DOMAINS.configMap, before.reason);
  const after = edit(before.value);
  if (isDeepStrictEqual(after, before.value)) return { ok: true, value: [] };
  return { ok: true, value: [{ ...STUB_DOMAINS, after: JSON.stringify(after) }] };
}

const ownStubs = ({ ownAddresses }: DnsConfig, wanted: Wanted): StubDomains =>
  Object.fromEntries(sentZones(wanted).map((zone) => [zone, ownAddresses]));

/** The zones that a DNS server without rules sends to our own one. */
export const sentZones = (wanted: Wanted): readonly string[] =>
  namesToSend(wanted).map(({ name }) => zoneOf(name).slice(0, -1));
