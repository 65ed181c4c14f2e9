export { type CommonOptions, commonRows } from './rows/common.ts';
export { LONGEST_TIMER_MS, parseDuration } from './duration.ts';
export { leaderElectionProblems, leaderElectionRows, type LeaderElectionOptions } from './rows/leader-election.ts';
export { nearest } from './nearest.ts';
export type { Program } from './program.ts';
export { optionsReference } from './reference.ts';
export {
  missingProblems,
  overriddenRemote,
  remoteClusterKeys,
  type RemoteClusterOptions,
  remoteClusterProblems,
  remoteClusterRows,
} from './rows/remote-cluster.ts';
export { type Given, type ResolveInput, resolveOptions, type Superseded } from './resolve.ts';
export {
  type AnySpec,
  defaultOf,
  type OptionTable,
  optionTable,
  type OptionType,
  rowsOf,
  spellingOf,
} from './table.ts';
export { boolean, checkedText, duration, integer, keyHashList, listenAddress, oneOf, text } from './types.ts';
