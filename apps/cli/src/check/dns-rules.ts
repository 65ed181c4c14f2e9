import { quotedWords } from '@kube-semaphore/text';
import { type Corefile, parseCorefile } from '../corefile/parse.ts';
import { GLOBAL, type Names, oursIn } from '../corefile/rules.ts';
import { type DnsServer, type Fault, faultOf, foreignRules, sampleOf } from '../corefile/faults.ts';
import { type DnsConfig, serversOf } from '../dns/config.ts';
import { MANAGER } from '../link/apply/api.ts';
import type { Finding } from './check.ts';
import { readPods, seenRemotes } from '../clusters/report.ts';
import type { Facts, Reading } from './facts/facts.ts';

const APP = 'semaphore-service-mirror';

/** Names of a cluster, as rules may have them: of its prefix, too, by hand. */
type Wanted = { readonly remote: string; readonly forms: readonly Names[]; readonly namespace: string };

/** What is wrong with the rules for names of the remotes, and of global Services. Undefined: there are none, and need be none. */
export function dnsRules(config: DnsConfig, reading: Reading): readonly (string | Finding)[] | undefined {
  const { cluster, facts, pods } = reading;
  const wanted = wantedOf(reading);
  const servers = serversOf(config);
  if (!servers.ok)
    return wanted.length === 0 ? undefined : [warning(`${cluster}: the Corefile can't be read: ${servers.reason}`)];
  // Nothing says how names resolve: only an answer does.
  if (servers.value.length === 0) return undefined;
  const rules = ruleTexts(config).flatMap((text) => parsedOf(text));
  const { selectedNamespaces: selected } = facts;
  // Without global Services, no Pod asks for their names.
  const faults = faultsOf(wanted, servers.value, facts).map(({ remote, fault }): Fault =>
    remote === GLOBAL.name ? { ...fault, severity: 'warning' } : fault,
  );
  // An app that doesn't report its status may read any cluster.
  const known = [...wanted.flatMap(({ forms }) => forms), ...seenRemotes([reading]).map(({ remote }) => remote)];
  const isComplete = known.length > 0 && pods.every(({ app, status }) => app !== APP || !('failure' in status));
  const foreign = isComplete
    ? rules.flatMap((corefile) =>
        foreignRules(
          corefile,
          known.map(({ name }) => name),
        ),
      )
    : [];
  if (wanted.length === 0 && foreign.length === 0) return undefined;
  const writer = config.corefile?.writer;
  const isReplaced =
    !rules.some((corefile) => oursIn(corefile).length > 0) && writer !== undefined && writer !== MANAGER;
  const who = isReplaced ? `; ${quotedWords(writer)} wrote the Corefile last` : '';
  return [
    ...uniqueFaults(faults).map(({ severity, sentence }) => ({ severity, detail: `${cluster}: ${sentence}${who}` })),
    ...foreign.map((sentence) => warning(`${cluster}: ${sentence}`)),
    ...(selected.known ? [] : [warning(`unknown: ${selected.why}`)]),
  ];
}

/** The remotes, and perhaps `global`, whose names don't resolve by rules, as far as that is known. */
export function unresolvedRemotes(reading: Reading): ReadonlySet<string> {
  const { facts } = reading;
  const servers = facts.dnsConfig.known ? serversOf(facts.dnsConfig.value) : undefined;
  if (servers?.ok !== true || servers.value.length === 0) return new Set();
  const faults = faultsOf(wantedOf(reading), servers.value, facts);
  return new Set(faults.flatMap(({ remote, fault }) => (fault.severity === 'problem' ? [remote] : [])));
}

type RemoteFault = { readonly remote: string; readonly fault: Fault };

const faultsOf = (wanted: readonly Wanted[], servers: readonly DnsServer[], facts: Facts): readonly RemoteFault[] =>
  wanted.flatMap((each) => {
    const fault = faultFor(each, servers, facts);
    return fault === undefined ? [] : [{ remote: each.remote, fault }];
  });

/** Why names don't resolve in any form. */
function faultFor(
  { forms, namespace }: Wanted,
  servers: readonly DnsServer[],
  { selectedNamespaces: selected }: Pick<Facts, 'selectedNamespaces'>,
): Fault | undefined {
  const found = forms.map((names) =>
    faultOf(servers, sampleOf(names, namespace), (selector) =>
      selected.known ? selected.value.get(selector) : undefined,
    ),
  );
  return found.includes(undefined) ? undefined : found[0];
}

/** All that may have rules of ours. */
const ruleTexts = ({ corefile, custom, own }: DnsConfig): readonly string[] =>
  [corefile?.text, ...(custom?.values() ?? []), own].filter((text) => text !== undefined);

function parsedOf(text: string): readonly Corefile[] {
  const parsed = parseCorefile(text);
  return parsed.ok ? [parsed.value] : [];
}

const warning = (detail: string): Finding => ({ severity: 'warning', detail });

/** Several remotes can have the same fault: one line hides all their mirrors. The severest comes first. */
const uniqueFaults = (faults: readonly Fault[]): readonly Fault[] =>
  faults.filter(({ sentence }, i) => faults.findIndex((fault) => fault.sentence === sentence) === i);

const wantedOf = (reading: Reading): readonly Wanted[] =>
  readPods([reading]).flatMap(({ status: { config, remotes } }) => {
    const { mirrorNamespace: namespace } = config;
    if (namespace === undefined) return [];
    const ofRemotes = remotes.flatMap(({ name, config: { servicePrefix: prefix } }) =>
      prefix === undefined
        ? []
        : [{ remote: name, forms: [name, prefix].map((each) => ({ name: each, prefix })), namespace }],
    );
    return config.globalSelector == null
      ? ofRemotes
      : [...ofRemotes, { remote: GLOBAL.name, forms: [GLOBAL], namespace }];
  });
