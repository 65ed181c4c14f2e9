import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { Codec, networkPolicyKind, podWithPortsKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr } from '@kube-semaphore/net';
import {
  clusterSetLabel,
  type CrossClusterRule,
  crossClusterRules,
  desiredCompanions,
  namesCluster,
  peerPodOf,
  writtenCompanion,
} from '@kube-semaphore/network-policies';
import { PodIdentities } from '../../src/companions/remote/pod-identities.ts';

/** The key of the label that names the cluster of a namespace. */
export const K = clusterSetLabel;

/** A remote, with its objects as its API server returns them. */
export type Remote = {
  readonly name: string;
  readonly allowedPodCidrs: readonly string[];
  readonly namespaces: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
};

const policyCodec = new Codec(networkPolicyKind);
const podCodec = new Codec(podWithPortsKind);

/** Makes companions of NetworkPolicies with the app's pure functions, without its reading and writing. */
export class Companions {
  readonly #identities: ReadonlyMap<string, PodIdentities>;
  readonly #maxAddressesPerPolicy: number;

  constructor(remotes: readonly Remote[], { maxAddressesPerPolicy = 500 } = {}) {
    this.#identities = new Map(remotes.map((remote) => [remote.name, identitiesOf(remote)]));
    this.#maxAddressesPerPolicy = maxAddressesPerPolicy;
  }

  /** The companions of a policy that has none yet. @param policy as the API server returns it, with its uid */
  of(policy: KubeObject): readonly KubeObject[] {
    const { metadata, spec } = policyCodec.objectFromJson(policy);
    const { namespace, name, uid, generation } = metadata;
    const source = { namespace, name, uid, generation, podSelector: spec.podSelector };
    const rules = crossClusterRules(spec, K);
    const remotes = Array.from(this.#identities, ([cluster, identities]) => {
      identities.setSource(`${namespace}/${name}`, rules);
      return {
        view: { cluster, known: true, podsOf: (rule: CrossClusterRule) => identities.podsOf(rule) } as const,
        rules: rules.filter(({ peers }) => peers.some((peer) => namesCluster(peer, K, cluster))),
      };
    });
    const { companions } = desiredCompanions({
      source,
      remotes,
      observed: [],
      isTaken: () => false,
      maxAddressesPerPolicy: this.#maxAddressesPerPolicy,
      maxAddressesPerSource: 5000,
    });
    const identity = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };
    return companions.map((companion) => ({ ...identity, ...writtenCompanion(source, companion) }) as KubeObject);
  }
}

function identitiesOf({ name, allowedPodCidrs, namespaces, pods }: Remote): PodIdentities {
  const identities = new PodIdentities({ key: K, id: name, labels: {}, onChange: () => {} });
  const addresses = { allowed: allowedPodCidrs.map(mustParseCidr), local: [] };
  for (const { metadata } of namespaces) identities.setNamespace(metadata.name, metadata.labels ?? {});
  for (const object of pods) {
    const rules = { addresses, selectorKeys: new Set<string>(), intern: <T>(identity: T): T => identity };
    const { pod, skipped } = peerPodOf(podCodec.objectFromJson(object), rules);
    if (pod === undefined || skipped.length > 0) throw new Error(`${object.metadata.name}: ${JSON.stringify(skipped)}`);
    identities.setPod(`${object.metadata.namespace}/${object.metadata.name}`, undefined, pod);
  }
  return identities;
}
