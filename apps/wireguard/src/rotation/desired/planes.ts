/**
 * A tunnel has two planes, so that a key can change without a lost packet. Inside one WireGuard device, an address has one
 * owner: with a new key, sender and receiver would have to change at one instant. Two devices have two tables: a node receives
 * on both, and sends by its own route.
 *
 * Plane 0 is the device and port of every day, always there. Plane 1 is a second device and port, there while a Node rotates.
 * **Two Nodes meet on plane 1 while one of them announces plane 1, else on plane 0.** Each end has a device of its own per
 * plane, so nothing has to happen at both ends at once. And no device ever sees one key from two ports: a handshake moves the
 * endpoint of a peer at its first message, but its session only at the first data, and packets in between would be lost.
 */
export type Plane = 0 | 1;

/** What a Node announces to the other cluster: its key, and by the port of its endpoint, the plane. */
export type Announced = { readonly publicKey: string; readonly plane: Plane };

/** A remote Node as we know it, which may be old. */
export type RemotePlanes = Announced & {
  /** As announced; `wg` writes it so. Undefined: the kernel's stays. */
  readonly endpoint: string | undefined;
  /** False: a Go program or an older release. It has one device, and replaces our key in it at once, with a short gap. */
  readonly knowsPlanes: boolean;
  /** It has announced plane 1 for longer than a rotation takes: it is down, waits for others, or is hostile. */
  readonly isOverdue?: boolean;
};

/** The entry of a remote Node in one of our devices. */
export type PlanePeer = {
  readonly publicKey: string;
  /** Whether its keepalive is on. */
  readonly keepsAlive: boolean;
  /** Whether this entry had a handshake. */
  readonly hasHandshake: boolean;
  /** When its last byte came, or since when we watch it, in milliseconds of Unix time. */
  readonly heardMs: number;
};

/** One of our two devices. It has at most one entry per Node: the one that owns the Node's ranges. */
export type PlaneDevice = {
  /** Undefined: it isn't set up yet. */
  readonly publicKey: string | undefined;
  /** By the Node's name. */
  readonly peers: ReadonlyMap<string, PlanePeer>;
};

/** What is known of a private key, which never leaves its file and the kernel. */
export type Key = {
  readonly publicKey: string;
  /** When its file was written, in milliseconds of Unix time. */
  readonly writtenMs: number;
};

/** The keys of a remote's devices. */
export type Keys = {
  readonly current: Key;
  /** There during our own rotation, from its beginning to its commit. */
  readonly next: Key | undefined;
};

/** All that a decision depends on is observed, so a kill, a restart or a reboot at any moment changes nothing. */
export type OwnPlanes = {
  readonly keys: Keys;
  /** By plane; undefined: there is none. */
  readonly devices: readonly [PlaneDevice | undefined, PlaneDevice | undefined];
  /** By Node: whether some or all of its ranges have a route of their own, which leads through plane 1. */
  readonly routed: ReadonlyMap<string, 'some' | 'all'>;
  /** The plane that the routes of the pod subnets lead through; undefined: they are missing, or differ. */
  readonly subnets: Plane | undefined;
  /** By our own Node. */
  readonly announced: Announced | undefined;
};

/** The time, and how long to wait for what. */
export type RotationClock = {
  /** Unix time. */
  readonly nowMs: number;
  /** How long a peer that sends keepalives is silent at most: three of them. */
  readonly silenceMs: number;
  /** When the present key is due for a rotation; Infinity: never. */
  readonly dueMs: number;
  /** How long a rotation waits for Nodes that don't follow it; Infinity: until all do, also those that are down. */
  readonly timeoutMs: number;
};

/** What a decision is made from. */
export type Situation = {
  readonly own: OwnPlanes;
  /** In the order of names. */
  readonly nodes: readonly (readonly [name: string, node: RemotePlanes])[];
  readonly clock: RotationClock;
};

/** Our entry of a Node in the device of a plane. */
export const entryOf = ({ devices }: OwnPlanes, plane: Plane, node: string): PlanePeer | undefined =>
  devices[plane]?.peers.get(node);

/** Whether a peer has stopped to send on this plane. */
export const isSilent = ({ heardMs }: PlanePeer, { nowMs, silenceMs }: RotationClock): boolean =>
  nowMs - heardMs >= silenceMs;
