import {
  accidentalRules,
  asSelectingPolicies,
  clusterLabel,
  companionLabel,
  companionPeerLabel,
  effectiveLabels,
  emptyRules,
  labelDomains,
  MANAGER,
  selectingPolicy,
  type StringMap,
} from '@kube-semaphore/network-policies';
import { type CalicoRules, readCalicoRules } from '../../clusters/calico.ts';
import { type NamedClusterPolicy, readClusterPolicies } from '../../clusters/cluster-policies.ts';
import type { Context } from '../../clusters/contexts.ts';
import { allOf, mapRead, type Read, type Run, type withGroups } from '../../clusters/objects.ts';
import { type ClusterReport, readPods } from '../../clusters/report.ts';

type Sentences = Promise<Read<readonly string[] | undefined>>;

/**
 * What is wrong with rules of policies and our sets, a sentence for each rule; undefined without Calico.
 *
 * @returns rules that select no address of our sets, and those that select our sets by accident
 */
export function readSetRules(
  context: Context,
  { report, ofGroups }: { readonly report: ClusterReport; readonly ofGroups: ReturnType<typeof withGroups> },
  run: Run,
): { readonly emptyRules: Sentences; readonly accidentalRules: Sentences } {
  const calico = ofGroups((groups) => readCalicoRules(context, groups, run));
  const ofCluster = ofGroups((groups) => readClusterPolicies(context, groups, run));
  return {
    emptyRules: calico.then((read) => mapRead(read, (rules) => rules && emptyRules(rules.policies, rules.sets))),
    accidentalRules: Promise.all([calico, ofCluster]).then(([rules, policies]) =>
      mapRead(allOf({ rules, policies }), (all) => all.rules && accidentsOf(all.rules, all.policies, report)),
    ),
  };
}

function accidentsOf(
  { policies, sets }: CalicoRules,
  ofCluster: readonly NamedClusterPolicy[],
  report: ClusterReport,
): readonly string[] {
  const selecting = [...policies.map(selectingPolicy), ...asSelectingPolicies(ofCluster)];
  const ours = sets.map(({ metadata }) => effectiveLabels(metadata.labels, metadata.annotations)).filter(isOurs);
  // The first group comes with a later NetworkPolicy, whose author may not know Calico's policies.
  const willHaveGroups = readPods([report]).some(({ status }) => status.config.networkPolicySink === 'calico');
  const examples = willHaveGroups && !ours.some(isGroup) ? [GROUP_LABELS] : [];
  return [...accidentalRules(selecting, ours), ...accidentalRules(selecting, examples, { areExamples: true })].map(
    ({ subject, detail }) => `${subject}: ${detail}`,
  );
}

const isGroup = (labels: StringMap): boolean => labels[companionLabel] === MANAGER;

const isOurs = (labels: StringMap): boolean =>
  isGroup(labels) || labelDomains.some((domain) => labels[clusterLabel(domain)] !== undefined);

const GROUP_LABELS = { [companionLabel]: MANAGER, [companionPeerLabel]: 'example' };
