export { commonOptions, type CommonOptions } from './common.ts';
export { deletionGuardOptions, type DeletionGuardOptions } from './deletion-guard.ts';
export { leaderElectionOptions, leaderElectionProblems, type LeaderElectionOptions } from './leader-election.ts';
export { optionsReference } from './reference.ts';
export { overriddenRemote, remoteClusterKeys, remoteClusterOptions, type RemoteClusterOptions, remoteClusterProblems } from './remote-cluster.ts';
export { resolveOptions, type Given, type Program } from './resolve.ts';
export { spellingOf, variableOf, type OptionTable, type OptionType } from './table.ts';
export { absoluteUrl, boolean, cidrList, duration, integer, listenAddress, oneOf, text } from './types.ts';
export { parseDuration } from './duration.ts';
