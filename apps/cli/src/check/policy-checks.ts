import { openTexts, ruleTitle } from '@kube-semaphore/network-policies';
import { some } from '../output/some.ts';
import { type Check, checkOfEach, type Finding } from './check.ts';
import { reached } from './checks.ts';
import type { MeaningReading, PolicyMeaning } from './facts/network-policies.ts';

/** A check of what is known of NetworkPolicies. @param findingsOf undefined: there is nothing of the kind in the cluster */
const checkOfMeaning = (
  name: string,
  hint: string,
  findingsOf: (meaning: PolicyMeaning) => readonly Finding[] | undefined,
): Check<MeaningReading> => ({
  name,
  hint,
  find: (readings) => {
    const found = readings.flatMap(({ cluster, meaning }) => {
      const findings = meaning.known ? findingsOf(meaning.value) : undefined;
      return findings === undefined
        ? []
        : [findings.map((finding) => ({ ...finding, detail: `${cluster}: ${finding.detail}` }))];
    });
    return found.length === 0 ? undefined : found.flat();
  },
});

/** Those of `--network-policies`. */
export const policyChecks: readonly Check<MeaningReading>[] = [
  reached,
  checkOfEach('policies-read', {
    hint: 'do what the sentence says',
    subjects: (readings: readonly MeaningReading[]) => readings.filter(({ failure }) => failure === undefined),
    detailOf: ({ meaning }) => (meaning.known ? undefined : meaning.why),
  }),
  checkOfMeaning('policies-let-in', 'add a --context for each remote, and check that it is reached', (meaning) =>
    meaning.rules.length === 0 ? undefined : meaning.rules.flatMap((rule) => lettingIn(rule, meaning)),
  ),
  checkOfMeaning('policies-closed', 'name clusters by the operator In, unless you mean all', ({ rules }) =>
    rules.length === 0
      ? undefined
      : rules.flatMap((rule) => openTexts(rule).map((detail) => ({ severity: 'warning', detail }) as const)),
  ),
  checkOfMeaning('policies-effective', 'correct the policy or the label', ({ diagnostics }) =>
    diagnostics.map(({ kind, subject, detail }) => ({
      severity: kind === 'problem' ? 'problem' : 'warning',
      detail: `${subject}: ${detail}`,
    })),
  ),
  checkOfMeaning(
    'namespaces-labelled',
    'for policies that name their own cluster, run semaphore-policy label-namespaces',
    ({ unlabelled, key }) =>
      unlabelled.length === 0
        ? []
        : [{ severity: 'warning', detail: `namespaces without the label ${key}: ${some(unlabelled)}` }],
  ),
];

const lettingIn = (rule: PolicyMeaning['rules'][number], { unread }: PolicyMeaning): readonly Finding[] =>
  rule.remotes.map(({ cluster, pods }) => {
    const who = `${ruleTitle(rule)} ${cluster}`;
    if (pods === undefined)
      return { severity: 'problem', detail: `${who}: its Pods are unknown: ${unread.get(cluster)}` };
    return { severity: 'note', detail: `${who}: ${pods.length} Pod${pods.length === 1 ? '' : 's'}`, objects: pods };
  });
