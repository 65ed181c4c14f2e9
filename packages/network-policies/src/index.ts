export { accidentalRules, type SelectingPolicy, selectingPolicy } from './calico/accidental-selectors.ts';
export { effectiveLabels, hasCalicoMetadata, withoutCalicoMetadata } from './calico/calico-metadata.ts';
export { parseCalicoSelector } from './calico/calico-selector.ts';
export { emptyRules } from './calico/empty-rules.ts';
export {
  type Companion,
  isCompanion,
  isWritten,
  MANAGER,
  networkPolicySink,
  observedCompanion,
  type ObservedCompanion,
  type Sink,
  type Source,
  sourceKeyOf,
  sourceOf,
  writtenCompanion,
  type WrittenObject,
} from './companions/companion.ts';
export { companionChanges } from './companions/changes.ts';
export { type CompanionDiagnostic, desiredCompanions, type RemoteView } from './companions/companions.ts';
export {
  type CompanionChange,
  companionEvent,
  companionFacts,
  type CompanionPhase,
  diffCompanions,
  generationOf,
  independentOf,
  isReplaced,
  isUrgent,
  nameOf,
  remoteOf,
  withoutSource,
} from './companions/diff.ts';
export { distribute, type Shards } from './split-into-shards.ts';
export {
  calicoMetadataAnnotation,
  clusterLabel,
  clusterSetLabel,
  companionClusterLabel,
  companionGenerationAnnotation,
  companionLabel,
  companionPeerLabel,
  companionSourceKey,
  configLabelPrefix,
  labelDomains,
  managedByLabel,
  nameLabel,
  namespaceLabel,
} from './names.ts';
export { AddressIndex, type Holder, type Lifetime, lifetimeOf } from './pods/address-index.ts';
export {
  addressedPod,
  addressIndexOf,
  ipsOf,
  isLate,
  lateAtMs,
  type Loss,
  lossesOf,
  lossOf,
  lossWords,
  overdueText,
} from './pods/late-pod.ts';
export {
  isAllowedHost,
  type PeerPod,
  peerPodOf,
  type PeerPodRules,
  podIdentity,
  type PodIdentity,
  uniqueLabels,
  withoutCidrs,
} from './pods/peer-pod.ts';
export { isFinished, isReleased, type PodDiagnostic } from './pods/unusable-pod.ts';
export { type Check, checkOf, type RuleCheck } from './policies/check.ts';
export { asSelectingPolicies, type NamedClusterPolicy, notExtended } from './policies/cluster-policies.ts';
export {
  type ClusterIds,
  type ConfigLabels,
  type CrossClusterRule,
  crossClusterRules,
  type Direction,
  namesCluster,
  peerText,
  remoteNamespaceLabels,
  type RemotePeer,
  selectsPod,
} from './policies/cross-cluster-rules.ts';
export {
  localHalfDiagnostics,
  type LocalValues,
  namespaceDiagnostics,
  type OpenRule,
  openRuleOf,
  openTexts,
  ruleTitle,
} from './policies/local-half.ts';
export {
  type PolicyDiagnostic,
  policyDiagnostics,
  selectorDiagnostics,
  type UnknownCluster,
  unknownClusterDiagnostic,
  unknownClusters,
} from './policies/policy-diagnostics.ts';
export type { SelectedPod } from './policies/ports.ts';
export { type Labels, requirementsOn, selects } from './policies/selector.ts';
export { ciliumSink } from './sinks/cilium-sink.ts';
export { wholeCompanions } from './sinks/grouped-sink.ts';
export { otherSinksOf, type SinkName, sinkNames, sinkOf } from './sinks/sinks.ts';
export { isSameMap, type StringMap } from './string-map.ts';
export { type FlowPod, flowPodOf, type FlowPort, remotePeer, type SideInput } from './verdict/flow.ts';
export {
  type AllowedBy,
  companionsAsPolicies,
  companionText,
  meaningIn,
  ruleText,
  sideVerdict,
  type SideVerdict,
} from './verdict/verdict.ts';
