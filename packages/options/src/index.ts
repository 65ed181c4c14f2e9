export { commonOptions, type CommonOptions } from './common.ts';
export { deletionGuardOptions, type DeletionGuardOptions } from './deletion-guard.ts';
export { leaderElectionOptions, leaderElectionProblems, type LeaderElectionOptions } from './leader-election.ts';
export { optionsReference } from './reference.ts';
export {
  overriddenRemote,
  remoteClusterKeys,
  remoteClusterOptions,
  type RemoteClusterOptions,
  remoteClusterProblems,
} from './remote-cluster.ts';
export { type RemoteWritesOptions, remoteWritesOptions } from './remote-writes.ts';
export type { Program, Retired } from './program.ts';
export { resolveOptions, type Given, type Superseded } from './resolve.ts';
export { nearest } from './nearest.ts';
export { subcommandOptions, type SubcommandOptions } from './subcommands.ts';
export { type AnySpec, defaultOf, rowsOf, spellingOf, variableOf, type OptionTable, type OptionType } from './table.ts';
export {
  absoluteUrl,
  apiServerUrl,
  boolean,
  cidrList,
  duration,
  integer,
  keyHashList,
  listenAddress,
  oneOf,
  text,
} from './types.ts';
export { parseDuration } from './duration.ts';
