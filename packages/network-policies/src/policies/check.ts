import type { Namespace, NetworkPolicy, PodWithPorts } from '@kube-semaphore/kube-objects';
import type { AddressRules } from '@kube-semaphore/net';
import { lifetimeOf } from '../pods/address-index.ts';
import { type Addressed, lossesOf } from '../pods/late-pod.ts';
import { isCompanion, type Sink, sourceOf } from '../companions/companion.ts';
import { type CompanionsInput, desiredCompanions } from '../companions/companions.ts';
import {
  type ClusterIds,
  type CrossClusterRule,
  crossClusterRules,
  namesCluster,
  remoteNamespaceLabels,
  selectsPod,
} from './cross-cluster-rules.ts';
import { localHalfDiagnostics, namespaceDiagnostics, type OpenRule, openRuleOf } from './local-half.ts';
import { type PeerPod, type PodIdentity, peerPodOf, uniqueLabels, withoutCidrs } from '../pods/peer-pod.ts';
import {
  policyDiagnostics,
  selectorDiagnostics,
  unknownClusterDiagnostic,
  unknownClusters,
} from './policy-diagnostics.ts';
import type { SelectedPod } from './ports.ts';
import type { Labels } from './selector.ts';

/** A remote of the config. */
export type CheckedRemote = {
  readonly name: string;
  /** Its value of the cluster label. */
  readonly id: string;
  /** `remotes[].labels`. */
  readonly labels: Labels;
  /** Which addresses it may bring in. */
  readonly addresses: AddressRules;
  /** Undefined if it was not read: unknown is not empty. */
  readonly objects: { readonly namespaces: readonly Namespace[]; readonly pods: readonly PodWithPorts[] } | undefined;
};

export type CheckInput = Pick<CompanionsInput, 'maxAddressesPerPolicy' | 'maxAddressesPerSource'> & {
  readonly ids: ClusterIds;
  /** `-network-policy-sink`. */
  readonly sink: Sink;
  /** Of the local cluster, companions included. */
  readonly policies: readonly NetworkPolicy[];
  /** Of the local cluster. */
  readonly namespaces: readonly Namespace[];
  /** Whether the Pods of remotes are only those of `-remote-pod-selector`. */
  readonly isLabelledOnly: boolean;
  readonly nowMs: number;
  readonly remotes: readonly CheckedRemote[];
};

type CheckDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason: string;
  readonly subject: string;
  readonly detail: string;
};

/** What one rule of a NetworkPolicy allows to other clusters. */
export type RuleCheck = OpenRule & {
  /** The remotes that it names. */
  readonly remotes: readonly {
    readonly cluster: string;
    /** `namespace/name`, sorted; undefined: the remote was not read. */
    readonly pods: readonly string[] | undefined;
  }[];
};

export type Check = {
  readonly rules: readonly RuleCheck[];
  readonly diagnostics: readonly CheckDiagnostic[];
  /** Local namespaces without the cluster label. */
  readonly unlabelled: readonly string[];
};

/** What NetworkPolicies that name other clusters mean with `-network-policies`, and what is wrong with them. */
export function checkOf({
  ids,
  sink,
  policies,
  namespaces,
  remotes,
  isLabelledOnly,
  nowMs,
  ...limits
}: CheckInput): Check {
  const views = remotes.map((remote) => {
    const seen = remote.objects && selection(remote, ids.key, { isTimeEnough: isLabelledOnly, nowMs });
    return { ...remote, select: seen?.select, late: seen?.diagnostics ?? [] };
  });
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels[ids.key]]));
  const values = new Set(labels.values());
  const checked = policies.filter((policy) => !isCompanion(policy)).map((policy) => checkPolicy(policy));
  const unlabelled = [...labels].flatMap(([name, value]) => (value === undefined ? [name] : []));
  return {
    rules: checked.flatMap(({ rules }) => rules),
    diagnostics: [
      ...checked.flatMap(({ diagnostics }) => diagnostics),
      ...[...labels].flatMap(checkNamespace),
      ...views.flatMap(({ late }) => late),
    ],
    unlabelled: unlabelled.toSorted(),
  };

  function checkPolicy(policy: NetworkPolicy) {
    const rules = crossClusterRules(policy.spec, ids.key);
    const source = sourceOf(policy);
    const networkPolicy = `${source.namespace}/${source.name}`;
    const naming = views.map((view) => ({
      ...view,
      rules: rules.filter(({ peers }) => peers.some((peer) => namesCluster(peer, ids.key, view.id, view.labels))),
    }));
    const known = naming.flatMap(({ name, select, rules: named }) =>
      select === undefined ? [] : [{ view: { cluster: name, known: true, podsOf: select } as const, rules: named }],
    );
    const wanted = desiredCompanions({ source, remotes: known, observed: [], isTaken: () => false, ...limits });
    const diagnostics = [
      ...unknownClusters(rules, ids).map(unknownClusterDiagnostic),
      ...policyDiagnostics(policy.spec, ids.key),
      ...selectorDiagnostics(rules, source, sink),
      ...localHalfDiagnostics(rules, ids, values),
      ...wanted.diagnostics.map(({ remote, detail, ...each }) => ({ ...each, detail: `${remote}: ${detail}` })),
    ];
    return {
      rules: rules.map((rule): RuleCheck => ({
        ...openRuleOf(networkPolicy, rule, ids),
        remotes: naming
          .filter((view) => view.rules.includes(rule))
          .map(({ name, select }) => ({ cluster: name, pods: select?.(rule).map((pod) => pod.name) })),
      })),
      diagnostics: diagnostics.map((each) => ({ subject: `NetworkPolicy ${networkPolicy}`, ...each })),
    };
  }

  function checkNamespace([name, value]: readonly [string, string | undefined]): readonly CheckDiagnostic[] {
    return namespaceDiagnostics(value, ids).map((each) => ({ subject: `namespace ${name}`, ...each }));
  }
}

type NamedPod = SelectedPod & { readonly name: string };

/** Finds the Pods of a remote that a rule selects, sorted by name. Selectors are compared once for equal Pods. */
function selection(remote: CheckedRemote, key: string, when: Parameters<typeof lossesOf>[1]) {
  const { addresses, objects } = remote;
  const labels = new Map(
    objects!.namespaces.map(({ metadata }) => [
      metadata.name,
      remoteNamespaceLabels(metadata.name, metadata.labels, { key, ...remote }),
    ]),
  );
  const groups = new Map<string, { readonly identity: PodIdentity; readonly pods: NamedPod[] }>();
  const rules = { addresses, selectorKeys: new Set(uniqueLabels), intern: (identity: PodIdentity) => identity };
  const read = objects!.pods.map((object) => ({ object, pod: peerPodOf(object, rules).pod }));
  const losses = lossesOf(read.map(addressed), when);
  for (const { object, pod: whole } of read) {
    const loss = losses.get(nameOf(object));
    const pod = whole && (loss === undefined ? whole : withoutCidrs(whole, loss.lost));
    if (pod !== undefined) groupOf(groups, pod).push(named(object, pod));
  }
  const diagnostics = Array.from(losses, ([name, { skipped }]) =>
    skipped.map((each): CheckDiagnostic => ({ subject: `Pod ${name} of ${remote.name}`, ...each })),
  ).flat();
  const select = ({ peers }: CrossClusterRule): readonly NamedPod[] => {
    const isSelected = ({ namespace, labels: pod }: PodIdentity): boolean => {
      const ofNamespace: Labels | undefined = labels.get(namespace);
      return ofNamespace !== undefined && peers.some((peer) => selectsPod(peer, ofNamespace, pod));
    };
    const found = [...groups.values()].flatMap(({ identity, pods }) => (isSelected(identity) ? pods : []));
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };
  return { select, diagnostics };
}

const nameOf = ({ metadata }: PodWithPorts): string => `${metadata.namespace}/${metadata.name}`;

const addressed = ({ object, pod }: { object: PodWithPorts; pod: PeerPod | undefined }): Addressed => ({
  holder: { pod: nameOf(object), ...lifetimeOf(object.metadata) },
  addresses: pod?.cidrs ?? [],
});

const named = (object: PodWithPorts, { cidrs, identity: { namedPorts } }: PeerPod): NamedPod => ({
  name: nameOf(object),
  cidrs,
  namedPorts,
});

function groupOf(groups: Map<string, { identity: PodIdentity; pods: NamedPod[] }>, { identity }: PeerPod): NamedPod[] {
  const text = JSON.stringify(identity);
  const group = groups.get(text) ?? { identity, pods: [] };
  groups.set(text, group);
  return group.pods;
}
