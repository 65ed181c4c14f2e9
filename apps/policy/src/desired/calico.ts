export { parseCalicoSelector } from './calico-selector.ts';
export { effectiveLabels } from './sets/calico-metadata.ts';
