export { type AccountOptions, createAccount } from './account.ts';
export { calicoApiCrds, type CalicoGroup, globalNetworkSetCrd, ipamCrds } from './calico.ts';
export { type Authority, type Certificate, type CertificateRequest, createAuthority } from './certificates.ts';
export type { Answer, KubeObject, PolicyRule, TestAccount, TestClient, TestCluster } from './cluster.ts';
export { type Credentials, kubeconfig, type KubeconfigOptions, writeKubeconfig } from './kubeconfig.ts';
export type { AuditEvent } from './real/audit.ts';
export { type Binaries, findBinaries, recipe, type Recipe, type Tool, tools } from './real/binaries.ts';
export { type CoreDnsOptions, startCoreDns } from './real/coredns.ts';
export { type KubeProxyOptions, startKubeProxy } from './real/kube-proxy.ts';
export type { NodeComponent } from './real/node-component.ts';
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
export {
  endpointSlice,
  type EndpointSliceOptions,
  node,
  type NodeOptions,
  service,
  type ServiceOptions,
} from './network-builders.ts';
export { fuzz, type FuzzTarget } from './fuzz/fuzz.ts';
export { mutateBytes, type Mutator } from './fuzz/mutate.ts';
export { mutateJson } from './fuzz/mutate-json.ts';
export { mutateProtobuf } from './fuzz/mutate-protobuf.ts';
export { type Answers, answers } from './fuzz/seeds.ts';
export { type GrowthOptions, superlinearAt } from './growth.ts';
export { type ClusterKind, clusterKind, startCluster } from './start.ts';
export { Dice } from './faults/dice.ts';
export type { Ending, Fault, FaultKind } from './faults/fault.ts';
export type { RequestFilter, Verb } from './faults/filter.ts';
export { type FaultProxy, type SeenRequest, startFaultProxy, type Undo } from './faults/proxy.ts';
export { faultKinds, faultSeed, play, randomSchedule, type ScheduleOptions, type Step } from './faults/schedule.ts';
export type { Capture } from './net/capture.ts';
export type { Place, RunOptions } from './net/namespace.ts';
export { type Network, startNetwork } from './net/network.ts';
export type { NetworkNode } from './net/node.ts';
export { type Packet, packetIn, wireGuardMessage } from './net/packet.ts';
export { type Ping, type PingOptions, type PingResult, startPing } from './net/ping.ts';
export { recordCalls, type RecordedCalls } from './net/recorded-calls.ts';
export { longLease, shortLease } from './leadership/lease.ts';
export { type LeaseTimes, ReplicaPair, type ReplicaPairOptions, type Roles } from './leadership/replica-pair.ts';
export { type Program, spawnProgram } from './program/program.ts';
export { type Container, type ContainerOptions, startContainer } from './containers/container.ts';
export { imageName, podman } from './containers/image.ts';
export { storeFlags } from './containers/store.ts';
export { cacheFolder } from './cache-folder.ts';
export { deployAccount, deployComponent, deployPolicies } from './rights/deployed-account.ts';
export { type Foreign, foreignWrites } from './rights/foreign.ts';
export { deployedRights, documentedRules, rulesOf } from './rights/manifests.ts';
export { rightsIn, useOf } from './rights/used.ts';
export { eventually } from './eventually.ts';
export { Kubelet, type KubeletOptions } from './pods/kubelet.ts';
export { imageRuntime } from './pods/image-runtime.ts';
export { type ProcessImage, processRuntime } from './pods/process-runtime.ts';
export type { Runtime } from './pods/runtime.ts';
export type { RunningContainer } from './pods/container.ts';
export type { RunningPod } from './pods/running-pod.ts';
export { runWorkload } from './pods/workload.ts';
export { docBlocks, docMetrics, docPage } from './doc-blocks.ts';
export { bash, goesWithoutKubectl, kubectlFolder } from './kubectl.ts';
export { expressionWarnings } from './real/expression-warnings.ts';
export { RandomChanges } from './trial/changes.ts';
export { remoteUp, watchRestarts } from './trial/cluster-metrics.ts';
export { halfOpen, hiddenEdit, restarts, watchCuts } from './trial/connections.ts';
export { lapsesIn, ObjectHistory } from './trial/history.ts';
export type { Lab, TrialStart } from './trial/lab.ts';
export { randomFaults } from './trial/misfortune.ts';
export { restoreEtcd } from './trial/restored-etcd.ts';
export { bothSides, type Side } from './trial/sides.ts';
export { failWrites, loseAnswers, refuseWrites, storms, throttleWrites, weatherStorm, writeStorms } from './trial/storms.ts';
export { letTokenExpire, renewToken } from './trial/tokens.ts';
export { Trial, trialPatience } from './trial/trial.ts';
export { harmIn, STEERING, TOKEN } from './hostile/harm.ts';
export { startHostileServer } from './hostile/hostile-server.ts';
