import {
  notReached,
  type PlannedWrite,
  refusalLines,
  type Refusals,
  withoutChange,
} from '@kube-semaphore/multicluster';
import { pageOf, printable } from '@kube-semaphore/text';
import type { PeerChange } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from './config/settings.ts';
import { type NodeDiagnostic, skippedLine } from './mesh/desired/diagnostic.ts';
import type { AnnotationPatch } from './own-node/desired/own-node.ts';
import type { DesiredPeer } from './mesh/desired/peers.ts';
import type { ObservedNode } from './mesh/local/observe.ts';
import { orphansOf } from './orphans/orphans.ts';
import type { LocalNode } from './own-node/local-node.ts';
import { type Decision, NEW_KEY } from './mesh/reconciler.ts';
import type { MeshRemote } from './mesh/remote/mesh-remote.ts';

/** One planned change. */
export type PlannedChange = {
  readonly action: 'create' | 'change' | 'delete';
  readonly what: 'device' | 'key' | 'address' | 'route' | 'annotation' | 'peer';
  /** The device's name, the key's file, the address, destination, annotation, or the peer's public key. */
  readonly name: string;
  /** The new state, for people; never contains a private key. */
  readonly detail: string;
};

/** What a plan knows of one remote. */
export type RemotePlan = {
  readonly remote: string;
  /** Whether its Nodes were listed in time. If not, its peers stay as they are. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or it gave no answer at all. */
  readonly failure: string | undefined;
  readonly changes: readonly PlannedChange[];
  /** Public keys of the peers that stay because the remote was not reached. */
  readonly retained: readonly string[];
  /** Deletions of Nodes and peers that are held. */
  readonly heldDeletions: number;
  /** What keeps the device from working as it should, such as routes of others: sentences. */
  readonly warnings: readonly string[];
  readonly skipped: readonly NodeDiagnostic[];
};

export type Plan = {
  /** Devices of remotes that aren't in the config any more. */
  readonly orphans: readonly PlannedChange[];
  /** Devices that look like ours, but have neither our mark nor a remote; they stay. */
  readonly unmarked: readonly string[];
  readonly remotes: readonly RemotePlan[];
  /** What the API server says of the annotations on our Node. */
  readonly refusals: Refusals;
};

/** 0, or 1 if a remote was not reached, as the plan is incomplete then. */
export const exitCodeOf = ({ remotes }: Plan): 0 | 1 => (remotes.every(({ reached }) => reached) ? 0 : 1);

/** What happens to the devices of remotes that aren't in the config any more. */
export function orphanPlan(
  observed: ObservedNode,
  remotes: readonly RemoteSettings[],
): Pick<Plan, 'orphans' | 'unmarked'> {
  const { ours, unmarked } = orphansOf(observed, remotes);
  const orphans = ours.map(({ device, remote }) =>
    planned('delete', 'device', device, `it leads to ${remote}, which has no device of this name in the config`),
  );
  return { orphans, unmarked };
}

/** The plan of a remote, from what a reconcile decides. */
export function remotePlan(
  { settings, held, skipped, failure }: Pick<MeshRemote, 'settings' | 'held' | 'skipped' | 'failure'>,
  decision: Decision,
): RemotePlan {
  const { observation, desired, diagnostics } = decision;
  const reached = desired.peers !== undefined;
  return {
    remote: settings.name,
    reached,
    failure: reached ? undefined : failure,
    changes: changesOf(decision),
    retained: reached ? [] : (observation.device?.peers.map(({ publicKey }) => publicKey).toSorted() ?? []),
    heldDeletions: reached ? held : 0,
    warnings: diagnostics.map(({ detail }) => detail),
    skipped: [...skipped, ...decision.skipped],
  };
}

/** The writes to the API server in a plan. */
export const plannedWrites = (
  decisions: readonly Pick<Decision, 'announcement'>[],
  local: Pick<LocalNode, 'annotate'>,
  nodeName: string,
): readonly PlannedWrite[] =>
  decisions.flatMap(({ announcement }) =>
    announcement === undefined
      ? []
      : [
          {
            object: `Node ${nodeName}`,
            send: (options) => local.annotate(withSomeKey(announcement), options),
          },
        ],
  );

/** With a key in place of one that isn't made yet: the API server may look at its form. */
const withSomeKey = (annotations: AnnotationPatch): AnnotationPatch =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [name, value === NEW_KEY ? `${'A'.repeat(43)}=` : value]),
  );

/** What a reconcile would do, in its order. */
export function changesOf({
  observation,
  ownership,
  key,
  desired,
  diff,
  announcement,
}: Decision): readonly PlannedChange[] {
  const { listenPort, link, addresses, routes, peers } = diff;
  const through = `through ${desired.name}`;
  const settings = [
    ...(ownership.kind === 'adopted' ? ['adopted'] : []),
    ...(diff.setsKey && key.from !== 'new' ? [`public key ${desired.publicKey}`] : []),
    ...(listenPort === undefined ? [] : [`port ${listenPort}`]),
    ...(link.mtuBytes === undefined ? [] : [`mtu ${link.mtuBytes}`]),
    ...(link.up === undefined ? [] : ['up']),
    ...(link.alias === undefined ? [] : [`alias ${JSON.stringify(link.alias)}`]),
  ];
  const nodes = new Map(desired.peers?.map((peer) => [peer.publicKey, peer]));
  const here = new Set(observation.device?.peers.map(({ publicKey }) => publicKey));
  return [
    ...(key.from === 'file'
      ? []
      : [planned('create', 'key', key.file, key.from === 'device' ? `the one that ${desired.name} has` : 'a new one')]),
    ...(settings.length === 0
      ? []
      : [planned(ownership.kind === 'absent' ? 'create' : 'change', 'device', desired.name, settings.join(', '))]),
    ...addresses.delete.map(({ ip, prefixLength }) =>
      planned('delete', 'address', `${ip}/${prefixLength}`, `of ${desired.name}`),
    ),
    ...addresses.add.map(({ ip, prefixLength }) =>
      planned('create', 'address', `${ip}/${prefixLength}`, `of ${desired.name}`),
    ),
    ...routes.delete.map(({ destination }) => planned('delete', 'route', destination, through)),
    ...routes.replace.map(({ destination }) => planned('change', 'route', destination, `${through}, marked as ours`)),
    ...routes.add.map(({ destination }) => planned('create', 'route', destination, through)),
    ...Object.entries(announcement ?? {}).map(([name, value]) =>
      value === null ? planned('delete', 'annotation', name, '') : planned('create', 'annotation', name, value),
    ),
    ...peers.map((change) =>
      peerChange(change, { peer: nodes.get(change.publicKey), isHere: here.has(change.publicKey) }),
    ),
  ];
}

function planned(
  action: PlannedChange['action'],
  what: PlannedChange['what'],
  name: string,
  detail: string,
): PlannedChange {
  return { action, what, name, detail };
}

function peerChange(
  change: PeerChange,
  { peer, isHere }: { peer: DesiredPeer | undefined; isHere: boolean },
): PlannedChange {
  if (change.remove === true) return planned('delete', 'peer', change.publicKey, 'no Node has its key');
  const { endpoint, allowedIps, keepaliveSeconds, clearPresharedKey } = change;
  const facts = [
    ...(peer === undefined ? [] : [printable(peer.node)]),
    ...(endpoint === undefined ? [] : [endpoint]),
    ...(allowedIps ?? []),
    ...(keepaliveSeconds === undefined || !isHere ? [] : [`keepalive ${keepaliveSeconds} s`]),
    ...(clearPresharedKey === true ? ['no preshared key'] : []),
  ];
  return planned(isHere ? 'change' : 'create', 'peer', change.publicKey, facts.join('  '));
}

/** A plan for people. Ends in a line break. */
export function planText({ orphans, unmarked, remotes, refusals }: Plan): string {
  const unreached = remotes.filter(({ reached }) => !reached).map(({ remote }) => remote);
  const changes = [...orphans, ...remotes.flatMap((remote) => remote.changes)];
  const lines = [
    ...(changes.length === 0
      ? [withoutChange(unreached)]
      : changes.map(({ action, what, name, detail }) => `${action}  ${what.padEnd(10)}  ${name}  ${detail}`.trimEnd())),
    ...unmarked.map((device) => `retain  device      ${device}  it has neither our mark nor a remote in the config`),
    ...refusalLines(refusals),
    ...remotes.flatMap((remote) => ['', ...remoteLines(remote)]),
  ];
  return pageOf(lines);
}

function remoteLines(plan: RemotePlan): readonly string[] {
  const { remote, skipped } = plan;
  return [
    ...(plan.reached
      ? [`${remote}: ${skipped.length} skipped`]
      : [notReached(remote, plan.failure), 'The peers of its Nodes stay as they are:']),
    ...plan.retained.map((publicKey) => `retained ${publicKey}`),
    ...(plan.heldDeletions === 0 ? [] : [`held     ${plan.heldDeletions} deletions, until the next list`]),
    ...plan.warnings.map((warning) => `warning  ${printable(warning)}`),
    ...skipped.map(skippedLine),
  ];
}
