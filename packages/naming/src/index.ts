export { base32Hash16, hash10, hash20 } from './hash.ts';
export { isDnsLabel, isDnsSubdomain, isLabelKey, isLabelValue, isServiceName, MAX_LABEL } from './kubernetes.ts';
export { compareText } from './order.ts';
