import { quotedWords } from '@kube-semaphore/text';
import type { StoredCorefile } from '../clusters/objects.ts';
import { parseCorefile } from '../corefile/parse.ts';
import { GLOBAL, type Names, oursIn } from '../corefile/rules.ts';
import { type Fault, faultOf, foreignRules, sampleOf } from '../corefile/verdict.ts';
import { MANAGER } from '../link/api.ts';
import type { Finding } from './check.ts';
import { readPods, seenRemotes } from '../clusters/report.ts';
import type { Reading } from './facts.ts';

const APP = 'semaphore-service-mirror';

/** Names of a cluster, as rules may have them: of its prefix, too, by hand. */
type Wanted = { readonly forms: readonly Names[]; readonly namespace: string };

/** What is wrong with the rules for names of the remotes, and of global Services. Undefined: there are none, and need be none. */
export function dnsRules(stored: StoredCorefile, reading: Reading): readonly (string | Finding)[] | undefined {
  const { cluster, facts, pods } = reading;
  const wanted = wantedOf(reading);
  const parsed = parseCorefile(stored.text);
  if (!parsed.ok)
    return wanted.length === 0 ? undefined : [warning(`${cluster}: the Corefile can't be read: ${parsed.reason}`)];
  const corefile = parsed.value;
  const ours = oursIn(corefile);
  const { selectedNamespaces: selected } = facts;
  const faults = wanted.flatMap(({ forms, namespace }) => {
    const found = forms.map((names) =>
      faultOf(corefile, sampleOf(names, namespace), (selector) =>
        selected.known ? selected.value.get(selector) : undefined,
      ),
    );
    const [fault] = found;
    if (fault === undefined || found.includes(undefined)) return [];
    // Without global Services, no Pod asks for their names.
    return [forms.includes(GLOBAL) ? { ...fault, severity: 'warning' as const } : fault];
  });
  // An app that doesn't tell may read any cluster.
  const known = [...wanted.flatMap(({ forms }) => forms), ...seenRemotes([reading]).map(({ remote }) => remote)];
  const isComplete = known.length > 0 && pods.every(({ app, status }) => app !== APP || !('failure' in status));
  const foreign = isComplete
    ? foreignRules(
        corefile,
        known.map(({ name }) => name),
      )
    : [];
  if (wanted.length === 0 && foreign.length === 0) return undefined;
  const isReplaced = ours.length === 0 && stored.writer !== undefined && stored.writer !== MANAGER;
  const who = isReplaced ? `; ${quotedWords(stored.writer ?? '')} wrote the Corefile last` : '';
  return [
    ...uniqueFaults(faults).map(({ severity, sentence }) => ({ severity, detail: `${cluster}: ${sentence}${who}` })),
    ...foreign.map((sentence) => warning(`${cluster}: ${sentence}`)),
    ...(selected.known ? [] : [warning(`unknown: ${selected.why}`)]),
  ];
}

const warning = (detail: string): Finding => ({ severity: 'warning', detail });

/** Several remotes can have the same fault, as one line hides all their mirrors. The severest comes first. */
const uniqueFaults = (faults: readonly Fault[]): readonly Fault[] =>
  faults.filter(({ sentence }, i) => faults.findIndex((fault) => fault.sentence === sentence) === i);

const wantedOf = (reading: Reading): readonly Wanted[] =>
  readPods([reading]).flatMap(({ status: { config, remotes } }) => {
    const { mirrorNamespace: namespace } = config;
    if (namespace === undefined) return [];
    const ofRemotes = remotes.flatMap(({ name, config: { servicePrefix: prefix } }) =>
      prefix === undefined ? [] : [{ forms: [name, prefix].map((each) => ({ name: each, prefix })), namespace }],
    );
    return config.globalSelector == null ? ofRemotes : [...ofRemotes, { forms: [GLOBAL], namespace }];
  });
