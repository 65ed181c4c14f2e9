export { type AccountOptions, createAccount } from './account.ts';
export { type CalicoGroup, globalNetworkSetCrd } from './calico.ts';
export { type Authority, type Certificate, type CertificateRequest, createAuthority } from './certificates.ts';
export type { Answer, KubeObject, PolicyRule, TestAccount, TestClient, TestCluster } from './cluster.ts';
export { type Credentials, kubeconfig, type KubeconfigOptions, writeKubeconfig } from './kubeconfig.ts';
export type { AuditEvent } from './real/audit.ts';
export { type Binaries, findBinaries, recipe, type Recipe, type Tool, tools } from './real/binaries.ts';
export { type RealCluster, type RealClusterOptions, startRealCluster } from './real/real-cluster.ts';
export { ComponentError } from './real/start-component.ts';
export { waitFor, type WaitOptions } from './wait-for.ts';
export {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
  type Write,
} from './embedded/cluster.ts';
export type { LoggedRequest } from './embedded/request-log.ts';
export { createPod, deletePod, pod, type PodOptions } from './builders.ts';
export { type ClusterKind, clusterKind, startCluster } from './start.ts';
export { Dice } from './faults/dice.ts';
export type { Ending, Fault, FaultKind } from './faults/fault.ts';
export type { RequestFilter, Verb } from './faults/filter.ts';
export { type FaultProxy, type SeenRequest, startFaultProxy, type Undo } from './faults/proxy.ts';
export { faultKinds, faultSeed, play, randomSchedule, type ScheduleOptions, type Step } from './faults/schedule.ts';
