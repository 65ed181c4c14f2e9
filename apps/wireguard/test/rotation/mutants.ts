import { type Action, setKeepalive } from '../../src/rotation/desired/actions.ts';
import { nextActions } from '../../src/rotation/desired/next-actions.ts';
import type { OwnPlanes, Plane, PlanePeer, RemotePlanes } from '../../src/rotation/desired/planes.ts';
import type { Decide } from './explore.ts';

type Remotes = ReadonlyMap<string, RemotePlanes>;

/** What `nextActions` decides if a node sees itself otherwise. */
const seeing =
  (see: (own: OwnPlanes) => OwnPlanes): Decide =>
  (own, remotes, clock) =>
    nextActions(see(own), remotes, clock);

/** What it decides if it sees the other nodes otherwise. */
const seeingOthers =
  (see: (remotes: Remotes, own: OwnPlanes) => Remotes): Decide =>
  (own, remotes, clock) =>
    nextActions(own, remotes && see(remotes, own), clock);

/** What comes of its decisions. */
const doing =
  (change: (actions: readonly Action[], own: OwnPlanes) => readonly Action[]): Decide =>
  (own, remotes, clock) =>
    change(nextActions(own, remotes, clock), own);

const isRotating = ({ keys }: OwnPlanes): boolean => keys.next !== undefined;

function withPeers(own: OwnPlanes, plane: Plane, facts: Partial<PlanePeer>): OwnPlanes {
  const device = own.devices[plane];
  if (device === undefined) return own;
  const changed = {
    ...device,
    peers: new Map([...device.peers].map(([node, peer]) => [node, { ...peer, ...facts }])),
  };
  return { ...own, devices: plane === 0 ? [changed, own.devices[1]] : [own.devices[0], changed] };
}

const SILENT = { heardMs: 0 };
const PROVEN = { hasHandshake: true };

/** Each rule of a rotation, taken away. */
export const mutants = {
  'a node commits before the others are silent': seeing((own) => (isRotating(own) ? withPeers(own, 0, SILENT) : own)),
  'the rotating node moves before a handshake': seeing((own) =>
    isRotating(own) && own.announced?.plane === 1 ? withPeers(own, 1, PROVEN) : own,
  ),
  'the other end moves before a handshake': seeing((own) => (isRotating(own) ? own : withPeers(own, 1, PROVEN))),
  'a node comes home before a handshake': seeing((own) => (isRotating(own) ? own : withPeers(own, 0, PROVEN))),
  'an entry leaves plane 1 without a silence': seeing((own) => (isRotating(own) ? own : withPeers(own, 1, SILENT))),
  'a node announces plane 1 before it has all entries': doing((actions, { keys: { next }, announced }) =>
    next !== undefined && next.publicKey !== announced?.publicKey && actions[0]?.kind === 'set-peer'
      ? [{ kind: 'announce', publicKey: next.publicKey, plane: 1 }]
      : actions,
  ),
  'plane 1 sends to the port of plane 0': (own, remotes, clock) =>
    nextActions(own, remotes, clock).map((action) =>
      action.kind === 'set-peer' ? { ...action, endpoint: remotes!.get(action.node)!.endpoint } : action,
    ),
  'plane 0 follows an announcement of plane 1': seeingOthers((remotes, own) =>
    isRotating(own)
      ? remotes
      : new Map(
          [...remotes].map(([name, node]) => [
            name,
            own.devices[0]?.peers.get(name)?.publicKey === node.publicKey ? node : { ...node, plane: 0 },
          ]),
        ),
  ),
  'a rotation begins while plane 1 is in use': (own, remotes, clock) => {
    const actions = nextActions(own, remotes, clock);
    const mayBegin = actions.length === 0 && !isRotating(own) && clock.nowMs >= clock.dueMs;
    return mayBegin ? [{ kind: 'begin' }] : actions;
  },
  'plane 0 goes with the routes of the pod subnets': doing((actions) =>
    actions[0]?.kind === 'route-subnets' && actions[0].plane === 1 ? [{ kind: 'delete-device', plane: 0 }] : actions,
  ),
  'a Node with one device is left as the others are': seeingOthers(
    (remotes) => new Map([...remotes].map(([name, node]) => [name, { ...node, knowsPlanes: true }])),
  ),
  'a node does not say that it has moved': doing((actions) =>
    actions.filter((action) => action.kind !== 'set-keepalive' || action.isOn || action.plane === 1),
  ),
  'a node is silent on plane 1 before it has left it': doing((actions, { devices: [, second] }) =>
    actions.map((action) =>
      action.kind === 'unroute-node' && second?.peers.get(action.node)?.keepsAlive === true
        ? setKeepalive(1, action.node, false)
        : action,
    ),
  ),
  'a Node that is gone keeps its entries': doing((actions) =>
    actions.some(({ kind }) => kind === 'remove-peer') ? [] : actions,
  ),
} satisfies Readonly<Record<string, Decide>>;
