export type { AgentRequestOptions } from './agent.ts';
export { openClientAgent } from './client-agent.ts';
export { connect } from './connect.ts';
export type { Authorization, Connection } from './connection.ts';
export type { Validity } from './credentials.ts';
export { deniedHint } from './denied.ts';
export type { Clock, Environment, Logger } from './dependencies.ts';
export { ClusterAuthError, tlsFailure } from './errors.ts';
export type { ClusterReference } from './reference.ts';
