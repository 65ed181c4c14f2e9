import { notReached, withoutChange } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { PeerChange } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from './desired/peers.ts';
import type { Orphan } from './local/node-check.ts';
import type { NodeDiagnostic } from './desired/diagnostic.ts';
import type { Decision } from './reconciler.ts';

/** One thing that would be done. */
export type PlannedChange = {
  readonly action: 'create' | 'change' | 'delete';
  readonly what: 'device' | 'key' | 'address' | 'route' | 'annotation' | 'peer';
  /** The device's name, the key's file, the address, destination, annotation, or the peer's public key. */
  readonly name: string;
  /** What it will be, for people; a private key is never in it. */
  readonly detail: string;
};

/** What a plan knows of one remote. */
export type RemotePlan = {
  readonly remote: string;
  /** Whether its Nodes were listed in time. If not, its peers stay as they are. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or there was no answer at all. */
  readonly failure: string | undefined;
  readonly changes: readonly PlannedChange[];
  /** Public keys of the peers that there are, and that nothing is decided about. */
  readonly unknown: readonly string[];
  /** Nodes, or peers from before, that its list lacked and that aren't given up yet. */
  readonly heldDeletions: number;
  /** Routes that somebody else has, and other reasons why the device would not be all that it should. */
  readonly hindrances: readonly string[];
  readonly skipped: readonly NodeDiagnostic[];
};

export type Plan = {
  /** Of remotes that left the config. */
  readonly strays: readonly PlannedChange[];
  /** Devices that look like ours, are nobody's, and stay. */
  readonly unmarked: readonly string[];
  readonly remotes: readonly RemotePlan[];
};

/** 0, or 1 if a remote wasn't reached and the plan is but a part of the truth. */
export const exitCodeOf = ({ remotes }: Plan): 0 | 1 => (remotes.every(({ reached }) => reached) ? 0 : 1);

/** What would become of a device whose remote left the config. */
export const orphanChanges = ({ device, remote }: Orphan): PlannedChange => ({
  action: 'delete',
  what: 'device',
  name: device,
  detail: `it leads to ${remote}, which has no device of this name in the config`,
});

/** What a decision would do, in the order in which it would be done. */
export function changesOf({ look, ownership, key, desired, diff, announcement }: Decision): readonly PlannedChange[] {
  const { listenPort, link, addresses, routes, peers } = diff;
  const through = `through ${desired.name}`;
  const settings = [
    ...(ownership.kind === 'adopted' ? ['adopted'] : []),
    ...(diff.setsKey && key.from !== 'none' ? [`public key ${desired.publicKey}`] : []),
    ...(listenPort === undefined ? [] : [`port ${listenPort}`]),
    ...(link.mtuBytes === undefined ? [] : [`mtu ${link.mtuBytes}`]),
    ...(link.up === undefined ? [] : ['up']),
    ...(link.alias === undefined ? [] : [`alias ${JSON.stringify(link.alias)}`]),
  ];
  const nodes = new Map(desired.peers?.map((peer) => [peer.publicKey, peer]));
  const here = new Set(look.device?.peers.map(({ publicKey }) => publicKey));
  return [
    ...(key.from === 'file'
      ? []
      : [plan('create', 'key', key.file, key.from === 'device' ? `the one that ${desired.name} has` : 'a new one')]),
    ...(settings.length === 0
      ? []
      : [plan(ownership.kind === 'absent' ? 'create' : 'change', 'device', desired.name, settings.join(', '))]),
    ...addresses.delete.map(({ ip, prefixLength }) =>
      plan('delete', 'address', `${ip}/${prefixLength}`, `of ${desired.name}`),
    ),
    ...addresses.add.map(({ ip, prefixLength }) =>
      plan('create', 'address', `${ip}/${prefixLength}`, `of ${desired.name}`),
    ),
    ...routes.delete.map(({ destination }) => plan('delete', 'route', destination, through)),
    ...routes.replace.map(({ destination }) => plan('change', 'route', destination, `${through}, marked as ours`)),
    ...routes.add.map(({ destination }) => plan('create', 'route', destination, through)),
    ...Object.entries(announcement ?? {}).map(([name, value]) =>
      value === null ? plan('delete', 'annotation', name, '') : plan('create', 'annotation', name, value),
    ),
    ...peers.map((change) =>
      peerChange(change, { peer: nodes.get(change.publicKey), isHere: here.has(change.publicKey) }),
    ),
  ];
}

const plan = (
  action: PlannedChange['action'],
  what: PlannedChange['what'],
  name: string,
  detail: string,
): PlannedChange => ({ action, what, name, detail });

function peerChange(
  change: PeerChange,
  { peer, isHere }: { peer: DesiredPeer | undefined; isHere: boolean },
): PlannedChange {
  if (change.remove === true) return plan('delete', 'peer', change.publicKey, 'no Node has its key');
  const { endpoint, allowedIps, keepaliveSeconds, clearPresharedKey } = change;
  const facts = [
    ...(peer === undefined ? [] : [printable(peer.node)]),
    ...(endpoint === undefined ? [] : [endpoint]),
    ...(allowedIps ?? []),
    ...(keepaliveSeconds === undefined || !isHere ? [] : [`keepalive ${keepaliveSeconds} s`]),
    ...(clearPresharedKey === true ? ['no preshared key'] : []),
  ];
  return plan(isHere ? 'change' : 'create', 'peer', change.publicKey, facts.join('  '));
}

/** A plan for programs: one JSON object, and a line break. */
export const planJson = (whole: Plan): string => jsonPage(whole);

/** A plan for people. Ends in a line break. */
export function planText({ strays, unmarked, remotes }: Plan): string {
  const unreached = remotes.filter(({ reached }) => !reached).map(({ remote }) => remote);
  const changes = [...strays, ...remotes.flatMap((remote) => remote.changes)];
  const lines = [
    ...(changes.length === 0
      ? [withoutChange(unreached)]
      : changes.map(({ action, what, name, detail }) => `${action}  ${what.padEnd(10)}  ${name}  ${detail}`.trimEnd())),
    ...unmarked.map((device) => `stays   device      ${device}  it has no mark of ours, and no remote`),
    ...remotes.flatMap((remote) => ['', ...remoteLines(remote)]),
  ];
  return pageOf(lines);
}

function remoteLines({
  remote,
  reached,
  failure,
  unknown,
  heldDeletions,
  hindrances,
  skipped,
}: RemotePlan): readonly string[] {
  return [
    ...(reached
      ? [`${remote}: ${skipped.length === 0 ? 'no Node is left out' : `${skipped.length} left out`}`]
      : [notReached(remote, failure), 'The peers of its Nodes stay as they are:']),
    ...unknown.map((publicKey) => `unknown  ${publicKey}`),
    ...(heldDeletions === 0 ? [] : [`held     ${heldDeletions} that its list lacks, until it is listed again`]),
    ...hindrances.map((hindrance) => `hinders  ${printable(hindrance)}`),
    ...skipped.map(
      ({ node, kind, detail }) =>
        `${kind === 'problem' ? 'skip!' : 'skip '}    ${printable(node)}: ${printable(detail)}`,
    ),
  ];
}
