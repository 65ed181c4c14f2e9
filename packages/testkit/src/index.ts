export { clusterPropertiesPath, clusterProperty, clusterPropertyCrd } from './about-api.ts';
export { calicoApiCrds, type CalicoGroup, globalNetworkSetCrd, ipamCrds } from './calico.ts';
export type { AuditEvent } from './real/audit.ts';
export {
  calicoCrds,
  ciliumCrds,
  engines,
  builtBinary,
  findBinaries,
  goesWithoutEngines,
  isProgram,
  type Kubernetes,
  otherTools,
  prometheusOperatorCrds,
  type Recipe,
  recipe,
  type Tool,
  tools,
} from './real/binaries.ts';
export { inPlace, type NodeComponent } from './real/node-component.ts';
export { startComponent } from './real/start-component.ts';
export { type Running, Supervision } from './real/supervision.ts';
export { startCoreDns } from './real/coredns.ts';
export { startKubeProxy } from './real/kube-proxy.ts';
export { type RealCluster, type RealClusterOptions, startRealCluster } from './real/real-cluster.ts';
export { TestInventory } from './inventory.ts';
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
export { mutateBytes } from './fuzz/mutate.ts';
export { mutateJson } from './fuzz/mutate-json.ts';
export { mutateProtobuf } from './fuzz/mutate-protobuf.ts';
export { answers } from './fuzz/seeds.ts';
export { superlinearAt } from './growth.ts';
export { type Labeller, startLabelledCluster } from './labellers.ts';
export { type ClusterKind, clusterKind, startCluster } from './start.ts';
export { type AuditedWrite, hasSucceeded, tenuresOf, writesOf } from './leadership/audit-trail.ts';
export { longLease, shortLease } from './leadership/lease.ts';
export { type LeaseTimes, ReplicaPair, type ReplicaPairOptions, type Roles } from './leadership/replica-pair.ts';
export { BUNDLES } from './program/launcher.ts';
export { type Program, spawnProgram } from './program/program.ts';
export { type Container, type ContainerOptions, startContainer } from './containers/container.ts';
export { imageName, podman } from './containers/image.ts';
export { storeFlags } from './containers/store.ts';
export { cacheFolder } from './cache-folder.ts';
export { deployAccount, deployComponent, deployPolicies, issueToken } from './rights/deployed-account.ts';
export { type Foreign, foreignWrites } from './rights/foreign.ts';
export { deployedCrds, deployedRights, rulesOf } from './rights/manifests.ts';
export { rightsIn, useOf } from './rights/used.ts';
export { type Registry, startRegistry } from './registry.ts';
export { byName, type Chart, chartFolder, chartObjects, charts, fieldsMissingIn, helm, released } from './charts.ts';
export { docBlocks, docPage } from './doc-blocks.ts';
export { bash, goesWithoutKubectl, kubectlFolder } from './kubectl.ts';
export { expressionWarnings } from './real/expression-warnings.ts';
export { mountFiles } from './mount-files.ts';
export { RandomChanges } from './fault-scenarios/changes.ts';
export { remoteUp, watchRestarts } from './fault-scenarios/cluster-metrics.ts';
export { failingWrites } from './fault-scenarios/failing-writes.ts';
export { gapsIn, ObjectHistory } from './fault-scenarios/history.ts';
export { type Lab, useUpVersions } from './fault-scenarios/lab.ts';
export { meetFaults } from './fault-scenarios/meet-faults.ts';
export { realCluster } from './fault-scenarios/restored-etcd.ts';
export { bothSides } from './fault-scenarios/sides.ts';
export { FaultScenario } from './fault-scenarios/fault-scenario.ts';
export { harmIn, quotingRefusal, STEERING, TOKEN } from './hostile/harm.ts';
export { startHostileServer } from './hostile/hostile-server.ts';
export { type Asked, type Endpoint, endpointOf, open, type Reply, send } from './http/http.ts';
export { type ScriptedAnswer, startScriptedServer } from './http/scripted-server.ts';
export { type WatchEvent, WatchStream } from './http/watch-stream.ts';
export { uncaughtErrors } from './uncaught-errors.ts';
