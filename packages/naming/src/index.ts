export { base32Hash16, hash10, hash20 } from './hash.ts';
export {
  isDnsLabel,
  isDnsSubdomain,
  isLabelKey,
  isLabelValue,
  isServiceName,
  MAX_LABEL,
  nearestName,
} from './kubernetes.ts';
export { compareNames, compareText } from './order.ts';
export {
  parseReport,
  pubKeyAnnotation,
  reportText,
  type SilenceReport,
  silentAnnotation,
  TUNNEL_DOMAIN,
  Witnesses,
} from './witnesses.ts';
