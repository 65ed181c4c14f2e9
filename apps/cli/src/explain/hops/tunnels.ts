import { contains, hostCidr, parseCidr } from '@kube-semaphore/net';
import { peersOf, type RemoteStatus } from '../../clusters/app-status.ts';
import type { Read } from '../../clusters/objects.ts';
import { headingOf, type Masquerader, masqueradeText, rangesIn, replaces } from '../../masquerade/masquerader.ts';
import {
  isIn,
  kubectl,
  namesOf,
  ok,
  remoteOf,
  semaphoreCheck,
  type SideFacts,
  skipped,
  statusesOf,
  unknown,
  type HopResult,
  wrong,
} from '../facts.ts';

/** One end of a tunnel, and the Pod at the other end. */
export type TunnelEnd = {
  readonly at: SideFacts;
  /** Of the Pod at this end. */
  readonly node: Read<string>;
  readonly other: SideFacts;
  /** Of the Pod at the other end. */
  readonly address: Read<string>;
  readonly otherNode: Read<string>;
};

/**
 * Whether the agent on a node would encrypt a packet to an address for the right peer, which answers. The same table says
 * from which addresses that peer may send.
 */
export function tunnelHop({ at, node, other, address, otherNode }: TunnelEnd): HopResult {
  const { report, cluster } = at;
  if (report.failure !== undefined) return unknown(report.failure);
  const agents = report.pods.filter(({ app }) => app === 'semaphore-wireguard');
  if (agents.length === 0)
    return statusesOf(other, 'semaphore-wireguard').some((status) => remoteOf(status, at) !== undefined)
      ? wrong(
          `no semaphore-wireguard runs in ${cluster}, to which ${other.cluster} has tunnels`,
          kubectl(cluster, '-n', 'kube-system', 'describe', 'daemonset', 'semaphore-wireguard'),
        )
      : skipped(`${cluster} has no semaphore-wireguard: the pod networks must be routed`);
  if (!node.known) return unknown(node.why);
  if (!address.known) return unknown(address.why);
  const agent = agents.find((each) => each.node === node.value);
  if (agent === undefined)
    return wrong(
      `no semaphore-wireguard runs on the node ${node.value} of ${cluster}`,
      kubectl(cluster, 'describe', 'node', node.value),
    );
  const place = `${agent.namespace}/${agent.name}`;
  if ('failure' in agent.status) return unknown(`${place} does not report its status: ${agent.status.failure}`);
  const logs = kubectl(cluster, '-n', agent.namespace, 'logs', agent.name);
  const remote = remoteOf(agent.status, other);
  if (remote === undefined) return wrong(`the config of ${place} does not have ${namesOf(other).join(' or ')}`, logs);
  const { deviceName = 'the device', device, deviceError, missing = [], unrouted = [] } = remote;
  const why = deviceError === undefined ? '' : `: ${deviceError}`;
  if (device === undefined) return unknown(`${place} can't observe the devices of ${node.value}${why}`);
  if (device === null) return wrong(`${deviceName} does not exist on ${node.value}${why}`, logs);
  if (!device.marked) return wrong(`${deviceName} on ${node.value} belongs to another program`, logs);
  const lost = unrouted.find((subnet) => isIn(subnet, address.value));
  if (lost !== undefined) return wrong(`${node.value} has no route to ${lost} through ${deviceName}`, logs);
  const peer = peerFor(remote, address.value);
  if (peer === undefined) {
    const waits = otherNode.known && missing.includes(otherNode.value);
    const why = waits ? `: the Node ${otherNode.value} is not a peer yet` : '';
    return wrong(`no peer of ${deviceName} on ${node.value} has ${address.value} in its allowed IPs${why}`, logs);
  }
  const name = peer.node ?? peer.publicKey;
  if (otherNode.known && peer.node !== null && peer.node !== otherNode.value)
    return wrong(
      `${deviceName} on ${node.value} has ${address.value} for ${name}, but its Pod is on ${otherNode.value}`,
      logs,
    );
  const path = `${node.value} to ${name} (${peer.endpoint ?? 'no endpoint'}) by ${deviceName}`;
  const age = peer.handshakeAgeSeconds;
  if (peer.state === 'up') return ok(`${path}, handshake ${age ?? '?'} s ago`);
  return wrong(
    `${path}: ${peer.state === 'never' ? 'no handshake yet' : `the last handshake was ${age ?? '?'} s ago`}`,
    `${semaphoreCheck(cluster, other.cluster)}  # if the keys agree, let UDP to ${peer.endpoint ?? 'the endpoint'} through`,
  );
}

/** As {@link tunnelHop}, for packets of a caller, whose address another program may replace before they leave the node. */
export function outHop(end: TunnelEnd, caller: Read<string>, byService: boolean): HopResult {
  const tunnel = tunnelHop(end);
  const { at, address, other } = end;
  const hasTunnel = tunnel.result === 'ok';
  if (!(hasTunnel || tunnel.result === 'skipped') || !caller.known || !address.known) return tunnel;
  const [to, from] = rangesIn([hostCidr(address.value), hostCidr(caller.value)]);
  if (to === undefined || from === undefined) return tunnel;
  const device = statusesOf(at, 'semaphore-wireguard').flatMap((each) => remoteOf(each, other)?.deviceName ?? [])[0];
  const fates = Map.groupBy(at.masqueraders.found, (each) => replaces(each, { to, from, device, byService }));
  const effect = hasTunnel ? 'Peers refuse such packets' : 'Policies there see the address of a node';
  const textOf = (each: Masquerader): string => `${masqueradeText(each, address.value)}. ${effect}`;
  const [sure] = fates.get('yes') ?? [];
  if (sure !== undefined) return wrong(textOf(sure), cureOf(sure, at.cluster, other.cluster));
  if (!hasTunnel) return tunnel;
  const [why] = [...(fates.get('perhaps') ?? []).map(textOf), ...at.masqueraders.unknown.map((each) => each.why)];
  return why === undefined ? tunnel : unknown(why);
}

/** Opens the setting, or names it. */
function cureOf({ name, object, check }: Masquerader, cluster: string, other: string): string {
  const page = `docs/wireguard.md#${headingOf(name)}`;
  return object === undefined
    ? `${semaphoreCheck(cluster, other)}  # ${check}: ${page}`
    : `${kubectl(cluster, '-n', object.namespace, 'edit', object.kind.toLowerCase(), object.name)}  # ${page}`;
}

/** As in the kernel, the longest prefix decides. */
function peerFor(remote: RemoteStatus, address: string) {
  const [found] = (peersOf(remote) ?? [])
    .flatMap((peer) => peer.allowedIps.map(parseCidr).flatMap((cidr) => (cidr.ok ? [{ peer, cidr: cidr.value }] : [])))
    .filter(({ cidr }) => contains(cidr, address))
    .toSorted((a, b) => b.cidr.prefixLength - a.cidr.prefixLength);
  return found?.peer;
}
