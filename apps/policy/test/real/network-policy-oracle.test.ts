// Real: cyclonus, which computes what NetworkPolicies allow, is built with the servers.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { goesWithoutEngines } from '@kube-semaphore/testkit';
import { Codec, type NetworkPolicy, networkPolicyKind } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Direction, sideVerdict } from '@kube-semaphore/network-policies';
import { Companions, K, type Remote } from '../support/companions.ts';
import { type Flow, type FlowEnd, verdicts } from '../support/cyclonus.ts';
import { policySpec, type World, world, type WorldCluster, type WorldPod } from '../support/random-policies.ts';

/** Policies that share a world. */
const BATCH = 25;
const { ORACLE_SEED, ORACLE_POLICIES = '100' } = process.env;

const destinations = [
  { port: 5432, protocol: 'TCP' },
  { port: 8080, protocol: 'TCP' },
  { port: 9090, protocol: 'TCP' },
  { port: 53, protocol: 'UDP' },
  { port: 8080, protocol: 'UDP' },
] as const;

/** A flow in both worlds: one where remote Pods are known by their labels, and one where they are addresses. */
type TwinFlow = Pods & { readonly byLabel: Flow; readonly byAddress: Flow };

type Pods = { readonly from: WorldPod; readonly to: WorldPod };

type Twin = { readonly pod: WorldPod; readonly byLabel: FlowEnd; readonly byAddress: FlowEnd };

/** A namespace with its own policy, beside the others of the batch. */
const homeOf = (i: number): string => `home-${i}`;

const metadataName = (name: string) => ({ 'kubernetes.io/metadata.name': name });

/** A label of all local namespaces, which no random policy names. */
const LOCAL = 'example.org/local';

/**
 * A policy as it is meant where remote Pods have labels: a peer that doesn't name the cluster label in its namespaceSelector
 * reaches local Pods only.
 */
const asMeant = (policy: KubeObject): KubeObject =>
  JSON.parse(JSON.stringify(policy), (key, value: Selector) => {
    if (key !== 'namespaceSelector') return value;
    const { matchLabels = {}, matchExpressions = [] } = value;
    if (Object.hasOwn(matchLabels, K) || matchExpressions.some((each) => each.key === K)) return value;
    return { ...value, matchExpressions: [...matchExpressions, { key: LOCAL, operator: 'Exists' }] };
  }) as KubeObject;

type Selector = { readonly matchLabels?: object; readonly matchExpressions?: readonly { readonly key: string }[] };

function localEnd({ local }: World, pod: WorldPod, home: string, family: 0 | 1): Twin {
  const namespace = pod.namespace === 'home' ? home : pod.namespace;
  const labels = { ...local.namespaces[pod.namespace], ...metadataName(namespace), [LOCAL]: 'yes' };
  const end = {
    IP: pod.ips[family],
    Internal: { Namespace: namespace, NamespaceLabels: labels, PodLabels: pod.labels },
  };
  return { pod, byLabel: end, byAddress: end };
}

/** Its namespace has a name that no local one has, as a policy is about the namespace where it is. */
function remoteEnd({ name, namespaces }: WorldCluster, pod: WorldPod, family: 0 | 1): Twin {
  const labels = { ...namespaces[pod.namespace], ...metadataName(pod.namespace), [K]: name };
  const byAddress = { IP: pod.ips[family] };
  const Internal = { Namespace: `${name}/${pod.namespace}`, NamespaceLabels: labels, PodLabels: pod.labels };
  return { pod, byLabel: { ...byAddress, Internal }, byAddress };
}

/** An address has no names of ports. */
function flow(from: Twin, to: Twin, { port, protocol }: (typeof destinations)[number]): TwinFlow {
  const name = to.pod.ports.find((each) => each.containerPort === port && each.protocol === protocol)?.name ?? '';
  const both = { ResolvedPort: port, Protocol: protocol };
  const isAddress = to.byAddress.Internal === undefined;
  return {
    from: from.pod,
    to: to.pod,
    byLabel: { ...both, Source: from.byLabel, Destination: to.byLabel, ResolvedPortName: name },
    byAddress: { ...both, Source: from.byAddress, Destination: to.byAddress, ResolvedPortName: isAddress ? '' : name },
  };
}

/** Flows between each Pod of a namespace with a policy and each other one, both ways, by IPv4 or IPv6 in turn. */
function flowsOf(given: World, home: string): readonly TwinFlow[] {
  const { local, remotes } = given;
  const [v4, v6] = ([0, 1] as const).map((family) => [
    ...local.pods.map((pod) => localEnd(given, pod, home, family)),
    ...remotes.flatMap((remote) => remote.pods.map((pod) => remoteEnd(remote, pod, family))),
  ]) as [Twin[], Twin[]];
  return v4.flatMap(({ pod: { namespace } }, s) =>
    namespace !== 'home'
      ? []
      : v4.flatMap((_, o) =>
          destinations.flatMap((to, i) => {
            const ends = (o + i) % 2 === 0 ? v4 : v6;
            const [subject, other] = [ends[s]!, ends[o]!];
            return [flow(subject, other, to), flow(other, subject, to)];
          }),
        ),
  );
}

const remoteObjects = ({ name, namespaces, pods }: WorldCluster): Remote => ({
  name,
  allowedPodCidrs: [`10.${name.slice(1)}.0.0/16`, `fd0${name.slice(1)}::/64`],
  namespaces: Object.entries(namespaces).map(([namespace, labels]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { ...labels } },
  })),
  pods: pods.map(({ namespace, labels, ips, ports }, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `pod-${i}`, labels: { ...labels } },
    spec: { containers: [{ name: 'app', ports }] },
    status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })) },
  })),
});

const codec = new Codec(networkPolicyKind);

/** What `semaphore explain` says of the flow where remote Pods are addresses, by the policies of the local cluster. */
function explained(
  policies: readonly NetworkPolicy[],
  { Source, Destination, ResolvedPort, Protocol }: Flow,
  ends: Pods,
): boolean {
  const port = { port: ResolvedPort, protocol: Protocol };
  const podOf = ({ Internal }: FlowEnd, { ports }: WorldPod) =>
    Internal && {
      namespace: Internal.Namespace,
      name: '',
      labels: Internal.PodLabels,
      namespaceLabels: Internal.NamespaceLabels,
      namedPorts: ports.map(({ name, containerPort, protocol }) => ({ name, protocol, port: containerPort })),
      hostNetwork: false,
      finished: false,
    };
  const [source, destination] = [podOf(Source, ends.from), podOf(Destination, ends.to)];
  const allows = (direction: Direction, subject: typeof source, peer: typeof source, ip: string): boolean =>
    subject === undefined ||
    sideVerdict({ direction, subject, peer: { ip, pod: peer, remote: undefined }, port, policies, key: K }).allowed;
  return allows('egress', source, destination, Destination.IP) && allows('ingress', destination, source, Source.IP);
}

type Counts = { flows: number; explained: number; companions: number; extended: number };

/** Compares the worlds of some policies. @returns what was compared, and each difference */
async function compare(given: World, specs: readonly object[]) {
  const policies = specs.map((spec, i): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: homeOf(i), name: 'policy', uid: `uid-${i}`, generation: 1 },
    spec,
  }));
  const maker = new Companions(given.remotes.map(remoteObjects), { maxAddressesPerPolicy: 3 });
  const companions = policies.map((policy) => maker.of(policy));
  const flows = policies.flatMap((_, i) => flowsOf(given, homeOf(i)).map((each) => ({ policy: i, ...each })));
  const [byLabel, byAddress] = await Promise.all([
    verdicts(
      policies.map(asMeant),
      flows.map((each) => each.byLabel),
    ),
    verdicts(
      [...policies, ...companions.flat()],
      flows.map((each) => each.byAddress),
    ),
  ]);
  const written = [...policies, ...companions.flat()].map((policy) => codec.objectFromJson(policy));
  const isLabelled = Object.values(given.local.namespaces).every((labels) => Object.hasOwn(labels, K));
  // cyclonus lets NotIn match no object without the key, unlike Kubernetes.
  const isRight = specs.map((spec) => isLabelled || !JSON.stringify(spec).includes(`{"key":"${K}","operator":"NotIn"`));
  const differences = flows.flatMap(({ policy, ...each }, i) =>
    byLabel[i] === byAddress[i] && (!isRight[policy] || byAddress[i] === explained(written, each.byAddress, each))
      ? []
      : [
          {
            byLabel: byLabel[i],
            byAddress: byAddress[i],
            explained: explained(written, each.byAddress, each),
            flow: each.byLabel,
            policy: specs[policy],
            companions: companions[policy],
          },
        ],
  );
  const counts: Counts = {
    flows: flows.length,
    companions: companions.flat().length,
    explained: flows.filter(({ policy }) => isRight[policy]).length,
    extended: companions.filter(({ length }) => length > 0).length,
  };
  return { differences, counts };
}

const seed = Number(ORACLE_SEED ?? Math.floor(Math.random() * 2 ** 31));

it.skipIf(goesWithoutEngines)(
  'a policy and its companions allow to addresses what the policy allows to Pods with labels',
  { timeout: 0 },
  async () => {
    console.info(`ORACLE_SEED=${seed}`);
    const sum: Counts = { flows: 0, explained: 0, companions: 0, extended: 0 };
    const batches = Math.ceil(Number(ORACLE_POLICIES) / BATCH);
    for (const [i, given] of fc.sample(world, { seed, numRuns: batches }).entries()) {
      const specs = fc.sample(policySpec, { seed: seed + i, numRuns: BATCH });
      const { differences, counts } = await compare(given, specs);
      expect(
        differences.slice(0, 3).map((each) => JSON.stringify(each)),
        `ORACLE_SEED=${seed}, world ${i}: ${differences.length} differences`,
      ).toEqual([]);
      for (const key of ['flows', 'explained', 'companions', 'extended'] as const) sum[key] += counts[key];
    }
    console.info(`${batches * BATCH} policies: ${JSON.stringify(sum)}`);
    // Otherwise the comparison says nothing.
    expect(sum.extended).toBeGreaterThan(batches);
    expect(sum.explained).toBeGreaterThan(sum.flows / 10);
  },
);
