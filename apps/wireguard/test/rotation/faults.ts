import { type Case, flowOn, isActive, matches, type Mesh, type MeshNode, othersOf, PLANES, sendsOn } from './mesh.ts';

/** Everything is done, and all is as before, with the last keys. */
export const isEnd = (mesh: Mesh): boolean =>
  mesh.nodes.every((node, a) => {
    if (!node.isThere) return node.seen.every((_, x) => mesh.nodes[x]!.seen[a] === null);
    const [first, second] = node.devices;
    if (node.due > 0 || node.later > 0 || node.next !== null || node.decided.length > 0) return false;
    if (first === null || second !== null || node.routed.some(Boolean)) return false;
    return othersOf(mesh, a).every((x) => {
      const { isThere, announced } = mesh.nodes[x]!;
      const [seen, entry] = [node.seen[x]!, first.entries[x]!];
      if (!isThere || announced === null) return seen === null && entry === null && !isThere;
      const isKnown = seen !== null && seen.key === announced.key && seen.plane === announced.plane;
      return isKnown && entry?.key === announced.key && mesh.sessions[a]![0]![x]!.length > 0;
    });
  });

/** What must never be. A packet may be lost only to and from a node that is old, times out, reboots, joins or leaves. */
export function* faultsOf(mesh: Mesh, given: Case): Generator<string> {
  const { old = [], timesOut = [], reboots = [], joins = [], leaves = [] } = given;
  const stops = new Set([...reboots, ...joins, ...leaves]);
  const loses = new Set([...stops, ...old, ...timesOut]);
  for (const [a, node] of mesh.nodes.entries()) {
    const { name, subnets, devices } = node;
    if (!stops.has(name) && (subnets === null || devices[subnets] === null))
      yield `${name} has no route for the pod subnets`;
    if (!stops.has(name) && joins.length === 0 && announcesTooEarly(node)) yield `${name} announces plane 1 too early`;
    for (const x of othersOf(mesh, a)) {
      const other = mesh.nodes[x]!.name;
      for (const t of PLANES)
        if (seesTwoPorts(mesh, a, x, t)) yield `plane ${t} of ${other} sees one key of ${name} from two ports`;
      if (loses.has(name) || loses.has(other)) continue;
      for (const plane of sendsOn(mesh, a, x)) {
        const flow = flowOn(mesh, a, plane, x);
        if (flow !== 'arrives') yield `a packet from ${name} to ${other} ${flow}`;
        // Without data, the other end would take this for silence.
        if (plane !== null && devices[plane]?.entries[x]?.keepsAlive === false)
          yield `${name} sends to ${other} without a keepalive`;
      }
    }
  }
}

function announcesTooEarly({ announced, devices: [, second], seen }: MeshNode): boolean {
  if (announced?.plane !== 1) return false;
  return second?.key !== announced.key || seen.some((other, x) => other !== null && second.entries[x] === null);
}

/** Whether both planes of a may send to x's plane t with the same key. */
const seesTwoPorts = (mesh: Mesh, a: number, x: number, t: 0 | 1): boolean =>
  mesh.nodes[a]!.devices[0]?.key === mesh.nodes[a]!.devices[1]?.key &&
  PLANES.every(
    (s) =>
      isActive(mesh, a, s, x) && mesh.nodes[a]!.devices[s]?.entries[x]?.endpoint === t && matches(mesh, a, s, x, t),
  );
