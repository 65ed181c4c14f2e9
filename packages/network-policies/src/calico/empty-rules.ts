import type { CalicoPolicy, GlobalNetworkSet } from '@kube-semaphore/kube-objects';
import { clusterLabel, clusterSetLabel, labelDomains, namespaceLabel } from '../names.ts';
import { selectingPolicy } from './accidental-selectors.ts';
import { parseCalicoSelector } from './calico-selector.ts';
import { effectiveLabels } from './calico-metadata.ts';

/** Labels that sets have, and no Pod. */
const SET_LABELS: readonly string[] = [
  ...labelDomains.flatMap((each) => [clusterLabel(each), namespaceLabel(each)]),
  clusterSetLabel,
];

/**
 * Finds rules that demand labels of our sets and select no address: no set has these labels, or only empty ones do.
 *
 * @returns a sentence for each rule
 */
export function emptyRules(policies: readonly CalicoPolicy[], sets: readonly GlobalNetworkSet[]): readonly string[] {
  const filled = sets
    .filter(({ spec }) => spec.nets.length > 0)
    .map(({ metadata: { labels, annotations } }) => effectiveLabels(labels, annotations));
  return policies.map(selectingPolicy).flatMap(({ subject, isGlobal, rules }) =>
    rules.flatMap(({ where, selector, namespaceSelector }) => {
      const isAboutSets = namespaceSelector === '' ? isGlobal : /\bglobal\s*\(/.test(namespaceSelector);
      const parsed = parseCalicoSelector(selector, { all: true, global: true });
      if (!isAboutSets || parsed === undefined || !SET_LABELS.some((label) => parsed.keys.has(label))) return [];
      return parsed.matches({}) || filled.some((labels) => parsed.matches(labels))
        ? []
        : [`${subject}: ${where} selects no address: ${selector}`];
    }),
  );
}
