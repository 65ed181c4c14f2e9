export { type Removal, cleanUp, cleanupConfirmation, confirmation, writeIfConfirmed } from './cleanup.ts';
export { Clusters, withClusters } from './clusters.ts';
export {
  addressFields,
  localReference,
  type NamedReference,
  overriddenAddresses,
  referenceOfFlags,
  type RemoteAddress,
  remoteOfFlags,
  remoteReference,
  remotesOfFile,
  type RemoteReference,
} from './config/cluster-references.ts';
export { durationField, durationOf, parseConfigFile, type ParsedFile } from './config/config-file.ts';
export { invalidConfig, readConfigSource, warnOfConfig } from './config/config-source.ts';
export { familiesField, familiesOf, familyNames, inFamilies } from './config/families.ts';
export { changedFields, type ConfigFileStatus, LiveConfig } from './config/live-config.ts';
export { Problems } from './config/problems.ts';
export { admit } from './inventory/admit.ts';
export { Inventory, openInventory } from './inventory/inventory.ts';
export { listProfiles } from './inventory/list.ts';
export type { ProfileRemote } from './inventory/profile.ts';
export { hasRemotes, type InventorySettings, remotesFrom } from './inventory/settings.ts';
export { listAll, listUntilAnswered } from './list-all.ts';
export { type Feature, type KeyContext, Leader, LeaderQueue } from './local/features.ts';
export { leadershipOf } from './local/leadership-of-options.ts';
export { LocalWrites } from './local/local-writes.ts';
export { refusalOf } from './local/refusal.ts';
export { localServiceRanges } from './local/service-ranges.ts';
export { type KeyWrites, type Unwritten, WaitingWrites } from './local/waiting-writes.ts';
export { eachInPeriod, everyPeriod, POLL_INTERVAL_MS } from './periodic.ts';
export { notReached, withoutChange } from './plan-lines.ts';
export { foreseeRefusals, type PlannedWrite, refusalLines, type Refusals } from './refusals.ts';
export { Admissions } from './remote/admissions.ts';
export { reportClusterSetId } from './remote/cluster-set-id.ts';
export { ClusterWatches, type ConnectionStatus } from './remote/cluster-watches.ts';
export { Diagnosed } from './remote/diagnosed.ts';
export { type Diagnostic, DiagnosticRegister, skippedIn } from './remote/diagnostic-register.ts';
export { PerRemote } from './remote/per-remote.ts';
export { remoteBudget } from './remote/default-budget.ts';
export {
  type Follow,
  type Remote,
  type RemoteChanges,
  type RemoteConfig,
  type RemoteList,
  Remotes,
} from './remote/remotes.ts';
export { RemoteState, type RemoteStatus } from './remote/remote-state.ts';
export { reportRestriction } from './remote/restriction.ts';
export { type LocalSide, Runner } from './runner.ts';
export { type AppStatus, statusPage } from './status-page.ts';
export { untilAnswered, type UntilAnsweredOptions } from './until-answered.ts';
export { asWhole, Watched, type WatchedOptions } from './watched.ts';
