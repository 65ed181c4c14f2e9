export { isDnsLabel, isDnsSubdomain, isLabelValue, MAX_LABEL } from './kubernetes.ts';
export {
  calicoMetadataAnnotation,
  clusterLabel,
  clusterSetLabel,
  hash10,
  labelDomains,
  managedByLabel,
  managedByValues,
  nameLabel,
  namespaceLabel,
  setKey,
  setKeyOfName,
  setNames,
  type SetNames,
  shardName,
  shardOf,
} from './policy.ts';
