export { Admissions } from './admissions.ts';
export { cleanUp, cleanupConfirmation, type Removal } from './cleanup.ts';
export {
  caCertHash,
  localReference,
  type NamedReference,
  overriddenAddresses,
  remoteOfFlags,
  remoteReference,
  remotesOfFile,
} from './cluster-references.ts';
export { ClusterWatches } from './cluster-watches.ts';
export { type Command, connectAll, readConfigSource, runCommand } from './command.ts';
export { ConfigError } from './config-error.ts';
export { durationOf, keysOf, parseConfigFile, type ParsedFile } from './config-file.ts';
export { goDocument } from './go-document.ts';
export { leadershipOf } from './leadership.ts';
export { type LocalWrite, LocalWrites } from './local-writes.ts';
export { limitedLog } from './limited-log.ts';
export { listAll } from './list-all.ts';
export { everyPeriod } from './periodic.ts';
export { notReached, withoutChange } from './plan-lines.ts';
export { POLL_INTERVAL_MS } from './polling.ts';
export { remoteBudget } from './remote-budget.ts';
export { RemoteState } from './remote-state.ts';
export { reportRestriction } from './restriction.ts';
export { Runner } from './runner.ts';
export { warnOfSameCluster } from './same-cluster.ts';
export { serve } from './serve.ts';
export { localServiceRanges } from './service-ranges.ts';
export { untilAnswered, type UntilAnsweredOptions } from './until-answered.ts';
export { type Diagnostic, DiagnosticRegister } from './diagnostic-register.ts';
