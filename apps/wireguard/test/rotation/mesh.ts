import type { Action } from '../../src/rotation/desired/actions.ts';
import type { OwnPlanes, Plane, PlaneDevice, RemotePlanes, RotationClock } from '../../src/rotation/desired/planes.ts';

/** A mesh, and what may happen in it. */
export type Case = {
  /** Names with the same first letter are of one cluster. */
  readonly nodes: readonly string[];
  /** How often each of them rotates. */
  readonly rotations: Readonly<Record<string, number>>;
  /** Go programs and older releases. */
  readonly old?: readonly string[];
  /** Their rotations may time out. */
  readonly timesOut?: readonly string[];
  /** Each may reboot once. */
  readonly reboots?: readonly string[];
  /** They come later. */
  readonly joins?: readonly string[];
  /** They may go for ever. */
  readonly leaves?: readonly string[];
  /** Actions are decided together, and carried out one by one later, while everything else goes on. */
  readonly isSlow?: true;
  /** Nodes have two ranges, whose routes are added and deleted one after the other. */
  readonly hasRanges?: true;
};

/** An entry in a device. `endpoint`: the plane of the other node that it sends to; null: none yet. */
type Entry = { key: string; keepsAlive: boolean; endpoint: Plane | null };

/** By the index of the other node. Null: no entry. */
type Device = { key: string; entries: (Entry | null)[] };

type Announced = { key: string; plane: Plane };

/** A node of the mesh. Lists are by the index of the other node. Without undefined, so that JSON has all of it. */
export type MeshNode = {
  name: string;
  /** False: its machine isn't there yet, or not any more. */
  isThere: boolean;
  key: string;
  next: string | null;
  devices: [Device | null, Device | null];
  routed: (boolean | 'some')[];
  subnets: Plane | null;
  announced: Announced | null;
  /** What it has seen of the others; null: of its own cluster, or without an announcement. */
  seen: (Announced | null)[];
  /** Rotations that it may begin now, and that will be due. */
  due: number;
  later: number;
  /** Of its keys. */
  generation: number;
  hasTimedOut: boolean;
  reboots: number;
  /** Decided, but not carried out yet. */
  decided: Action[];
};

/**
 * All nodes. `sessions[a][plane][x]`: where the sessions of a's entry for x lead: the current one, and the one before, which a
 * receiver of WireGuard still accepts.
 */
export type Mesh = { nodes: MeshNode[]; sessions: Plane[][][][] };

export const PLANES = [0, 1] as const;

/** A mesh in which all tunnels are up. */
export function meshOf({ nodes: names, rotations, joins: absent = [] }: Case): Mesh {
  const areLinked = (a: string, b: string): boolean => a[0] !== b[0] && !absent.includes(a) && !absent.includes(b);
  const nodes = names.map((name): MeshNode => {
    const isThere = !absent.includes(name);
    const key = `${name}1`;
    const entries = names.map((other): Entry | null =>
      areLinked(name, other) ? { key: `${other}1`, keepsAlive: true, endpoint: 0 } : null,
    );
    return {
      name,
      isThere,
      key,
      next: null,
      devices: [isThere ? { key, entries } : null, null],
      routed: names.map(() => false),
      subnets: isThere ? 0 : null,
      announced: isThere ? { key, plane: 0 } : null,
      seen: entries.map((entry) => entry && { key: entry.key, plane: 0 }),
      due: 0,
      later: rotations[name] ?? 0,
      generation: 1,
      hasTimedOut: false,
      reboots: 0,
      decided: [],
    };
  });
  const sessions = names.map((a) => [names.map((b): Plane[] => (areLinked(a, b) ? [0] : [])), names.map(() => [])]);
  return copyOf({ nodes, sessions });
}

/** The nodes of other clusters, whether they are there or not. */
export const othersOf = ({ nodes }: Mesh, own: number): number[] =>
  nodes.flatMap(({ name }, i) => (name[0] === nodes[own]!.name[0] ? [] : [i]));

/** A copy that shares what is never changed in place. */
export const copyOf = ({ nodes, sessions }: Mesh): Mesh => ({
  nodes: nodes.map(({ devices: [first, second], routed, seen, ...node }) => ({
    ...node,
    devices: [copyOfDevice(first), copyOfDevice(second)],
    routed: [...routed],
    seen: [...seen],
  })),
  sessions: sessions.map((planes) => planes.map((peers) => [...peers])),
});

const copyOfDevice = (device: Device | null): Device | null =>
  device && { key: device.key, entries: device.entries.map((entry) => entry && { ...entry }) };

const entryOf = (mesh: Mesh, a: number, plane: Plane, x: number): Entry | null =>
  mesh.nodes[a]!.devices[plane]?.entries[x] ?? null;

/** The planes on which a node sends to another one. Two, while only some of its ranges are routed. */
export function sendsOn({ nodes }: Mesh, a: number, x: number): (Plane | null)[] {
  const { routed, subnets } = nodes[a]!;
  if (routed[x] === true) return [1];
  return routed[x] === 'some' && subnets !== 1 ? [1, subnets] : [subnets];
}

/** Whether packets or keepalives leave by an entry. */
export const isActive = (mesh: Mesh, a: number, plane: Plane, x: number): boolean =>
  entryOf(mesh, a, plane, x)?.keepsAlive === true || sendsOn(mesh, a, x).includes(plane);

/** Whether two devices have each other's keys, so that they can have a handshake. */
export function matches(mesh: Mesh, a: number, s: Plane, x: number, t: Plane | null): boolean {
  if (t === null) return false;
  const [to, back] = [entryOf(mesh, a, s, x), entryOf(mesh, x, t, a)];
  return (
    to !== null &&
    back !== null &&
    to.key === mesh.nodes[x]!.devices[t]!.key &&
    back.key === mesh.nodes[a]!.devices[s]!.key
  );
}

const hasSession = ({ sessions }: Mesh, a: number, s: Plane, x: number, t: Plane): boolean =>
  sessions[a]![s]![x]!.includes(t) && sessions[x]![t]![a]!.includes(s);

/** Whether a packet that leaves by an entry now arrives in its session. */
function isAccepted(mesh: Mesh, a: number, s: Plane, x: number): boolean {
  const [t] = mesh.sessions[a]![s]![x]!;
  return (
    t !== undefined &&
    entryOf(mesh, a, s, x)?.endpoint === t &&
    matches(mesh, a, s, x, t) &&
    hasSession(mesh, a, s, x, t)
  );
}

/** Whether x sends anything that arrives at a's entry. A handshake that is possible, and that somebody starts, ends within a silence. */
function isSilent(mesh: Mesh, a: number, s: Plane, x: number): boolean {
  const sends = (from: number, plane: Plane, to: number, at: Plane): boolean => {
    const entry = entryOf(mesh, from, plane, to)!;
    return entry.keepsAlive && entry.endpoint === at;
  };
  for (const u of PLANES)
    for (const t of PLANES)
      if (u !== s && matches(mesh, a, u, x, t) && !hasSession(mesh, a, u, x, t))
        if (sends(x, t, a, u) || sends(a, u, x, t)) return false;
  return !PLANES.some((t) => {
    if (!matches(mesh, a, s, x, t)) return false;
    const [current = s] = mesh.sessions[x]![t]![a]!;
    return isActive(mesh, x, t, a) && entryOf(mesh, x, t, a)!.endpoint === s && current === s;
  });
}

/** What a node observes of itself. */
export function observe(mesh: Mesh, a: number): OwnPlanes {
  const { key, next, devices, routed, subnets, announced } = mesh.nodes[a]!;
  const device = (plane: Plane): PlaneDevice | undefined => {
    const { key: publicKey, entries = [] } = devices[plane] ?? {};
    const peers = entries.flatMap((entry, x) =>
      entry === null
        ? []
        : [
            [
              mesh.nodes[x]!.name,
              {
                publicKey: entry.key,
                keepsAlive: entry.keepsAlive,
                hasHandshake: mesh.sessions[a]![plane]![x]!.length > 0,
                heardMs: isSilent(mesh, a, plane, x) ? 0 : NOW,
              },
            ] as const,
          ],
    );
    return devices[plane] === null ? undefined : { publicKey, peers: new Map(peers) };
  };
  return {
    keys: {
      current: { publicKey: key, writtenMs: 0 },
      next: next === null ? undefined : { publicKey: next, writtenMs: mesh.nodes[a]!.hasTimedOut ? 0 : NOW },
    },
    devices: [device(0), device(1)],
    routed: new Map(
      routed.flatMap((value, x) =>
        value === false ? [] : [[mesh.nodes[x]!.name, value === true ? 'all' : value] as const],
      ),
    ),
    subnets: subnets ?? undefined,
    announced: announced === null ? undefined : { publicKey: announced.key, plane: announced.plane },
  };
}

/** What a node has seen of the others. @param old nodes with one device */
export const remotesOf = ({ nodes }: Mesh, a: number, old: readonly string[]): ReadonlyMap<string, RemotePlanes> =>
  new Map(
    nodes[a]!.seen.flatMap((seen, x) => {
      const { name } = nodes[x]!;
      return seen === null
        ? []
        : [
            [
              name,
              {
                publicKey: seen.key,
                plane: seen.plane,
                endpoint: String(seen.plane),
                knowsPlanes: !old.includes(name),
              },
            ] as const,
          ];
    }),
  );

/** The time at which everything happens: what isn't now is long ago. */
const NOW = 1;

/** The clock of a node. */
export const clockOf = ({ due }: MeshNode): RotationClock => ({
  nowMs: NOW,
  silenceMs: NOW,
  timeoutMs: NOW,
  dueMs: due > 0 ? NOW : Infinity,
});

/** An endpoint is only the plane here. */
const portOf = (endpoint: string): Plane => (endpoint === '1' ? 1 : 0);

/** Carries out an action of a node. */
export function apply(mesh: Mesh, a: number, action: Action): void {
  const node = mesh.nodes[a]!;
  const { devices, routed } = node;
  const x = 'node' in action ? mesh.nodes.findIndex(({ name }) => name === action.node) : -1;
  switch (action.kind) {
    case 'create-device':
      devices[action.plane] = { key: action.publicKey, entries: node.seen.map(() => null) };
      return;
    case 'delete-device':
      mesh.sessions[a]![action.plane] = node.seen.map(() => []);
      devices[action.plane] = null;
      if (action.plane === 1) routed.fill(false);
      if (node.subnets === action.plane) node.subnets = null;
      return;
    case 'set-peer': {
      const { plane, publicKey, keepsAlive } = action;
      if (entryOf(mesh, a, plane, x)?.key !== publicKey) mesh.sessions[a]![plane]![x] = [];
      const endpoint = action.endpoint === undefined ? null : portOf(action.endpoint);
      devices[plane]!.entries[x] = { key: publicKey, keepsAlive, endpoint };
      return;
    }
    case 'remove-peer':
      devices[action.plane]!.entries[x] = null;
      mesh.sessions[a]![action.plane]![x] = [];
      return;
    case 'set-keepalive':
      devices[action.plane]!.entries[x]!.keepsAlive = action.isOn;
      return;
    case 'route-node':
      routed[x] = true;
      return;
    case 'unroute-node':
      routed[x] = false;
      return;
    case 'route-subnets':
      node.subnets = action.plane;
      return;
    case 'announce':
      node.announced = { key: action.publicKey, plane: action.plane };
      return;
    case 'begin':
      node.generation++;
      node.due--;
      node.next = `${node.name}${node.generation}`;
      return;
    case 'commit':
      Object.assign(node, { key: node.next, next: null, hasTimedOut: false });
  }
}

/** A packet of a's plane s arrives at x's plane t: x answers there from now on. */
function roam(mesh: Mesh, a: number, s: Plane, x: number, t: Plane): void {
  entryOf(mesh, x, t, a)!.endpoint = s;
}

/** A handshake from a's plane s to x's plane t. */
function shake(mesh: Mesh, a: number, s: Plane, x: number, t: Plane): void {
  const { sessions } = mesh;
  sessions[a]![s]![x] = [t, ...sessions[a]![s]![x]!.filter((plane) => plane !== t).slice(0, 1)];
  sessions[x]![t]![a] = [s, ...sessions[x]![t]![a]!.filter((plane) => plane !== s).slice(0, 1)];
  roam(mesh, a, s, x, t);
}

/** A machine stops: its devices and routes are gone, files and annotations stay. */
export function stop(mesh: Mesh, node: MeshNode): void {
  mesh.sessions[mesh.nodes.indexOf(node)] = PLANES.map(() => node.seen.map(() => []));
  Object.assign(node, {
    devices: [null, null],
    routed: node.routed.map(() => false),
    subnets: null,
    decided: [],
    reboots: node.reboots + 1,
  });
}

/** Handshakes and packets that may come at any time: their effects on a copy. */
export function* traffic(mesh: Mesh, copy: () => Mesh): Generator<readonly [what: string, mesh: Mesh]> {
  for (const [a, node] of mesh.nodes.entries()) {
    for (const x of othersOf(mesh, a)) {
      for (const s of PLANES) {
        const entry = node.devices[s]?.entries[x] ?? null;
        if (entry === null || !isActive(mesh, a, s, x)) continue;
        const { endpoint } = entry;
        if (endpoint !== null && matches(mesh, a, s, x, endpoint)) {
          const after = copy();
          shake(after, a, s, x, endpoint);
          yield [`handshake ${a}.${s} -> ${x}.${endpoint}`, after];
        }
        if (!isAccepted(mesh, a, s, x)) continue;
        const [t] = mesh.sessions[a]![s]![x]!;
        if (entryOf(mesh, x, t!, a)!.endpoint === s) continue;
        const after = copy();
        roam(after, a, s, x, t!);
        yield [`packet ${a}.${s} -> ${x}.${t} roams`, after];
      }
    }
  }
}

/** What happens to a packet that leaves now: it arrives, waits for a handshake that is possible now, or is lost. */
export function flowOn(mesh: Mesh, a: number, plane: Plane | null, x: number): 'arrives' | 'waits' | 'is lost' {
  const entry = plane === null ? null : entryOf(mesh, a, plane, x);
  if (plane === null || entry === null) return 'is lost';
  if (mesh.sessions[a]![plane]![x]!.length > 0) return isAccepted(mesh, a, plane, x) ? 'arrives' : 'is lost';
  return matches(mesh, a, plane, x, entry.endpoint) ? 'waits' : 'is lost';
}
