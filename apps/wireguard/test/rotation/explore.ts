import type { Action } from '../../src/rotation/desired/actions.ts';
import type { nextActions } from '../../src/rotation/desired/next-actions.ts';
import { faultsOf, isEnd } from './faults.ts';
import {
  apply,
  clockOf,
  copyOf,
  type Case,
  type Mesh,
  type MeshNode,
  meshOf,
  observe,
  othersOf,
  remotesOf,
  stop,
  traffic,
} from './mesh.ts';

export type Decide = typeof nextActions;

export type Exploration = {
  readonly states: number;
  /** What must never be, each with a shortest way to it. */
  readonly faults: ReadonlyMap<string, readonly string[]>;
};

/**
 * Walks all states that a mesh can reach: by each action of each node, which may be its last one before a kill; each announcement
 * that arrives; each handshake, and each packet that moves an endpoint.
 *
 * @param limit of states; if there are more, `no end can be reached` is not looked for
 */
export function explore(given: Case, decide: Decide, { limit = Infinity } = {}): Exploration {
  const texts = [JSON.stringify(meshOf(given))];
  const known = new Map([[texts[0]!, 0]]);
  const reachedBy: { readonly state: number; readonly what: string }[] = [{ state: -1, what: '' }];
  const before: number[][] = [[]];
  const ends: number[] = [];
  const faults = new Map<string, readonly string[]>();
  const wayTo = (state: number): string[] =>
    state <= 0 ? [] : [...wayTo(reachedBy[state]!.state), reachedBy[state]!.what];
  for (let state = 0; state < texts.length && texts.length <= limit; state++) {
    const mesh = JSON.parse(texts[state]!) as Mesh;
    for (const fault of faultsOf(mesh, given)) if (!faults.has(fault)) faults.set(fault, wayTo(state));
    if (isEnd(mesh)) ends.push(state);
    for (const [what, after] of steps(mesh, given, decide)) {
      const text = JSON.stringify(after);
      let next = known.get(text);
      if (next === undefined) {
        next = texts.push(text) - 1;
        known.set(text, next);
        reachedBy.push({ state, what });
        before.push([]);
      }
      before[next]!.push(state);
    }
  }
  // The set grows while it is read.
  const ending = new Set(ends);
  for (const state of ending) for (const earlier of before[state]!) ending.add(earlier);
  const trap = texts.findIndex((_, state) => !ending.has(state));
  if (trap !== -1 && texts.length <= limit) faults.set('no end can be reached', wayTo(trap));
  return { states: texts.length, faults };
}

type Step = readonly [what: string, after: Mesh];
type Change = (what: string, change: (own: MeshNode, after: Mesh) => void) => Step;

/** Everything that can happen next. */
function* steps(mesh: Mesh, given: Case, decide: Decide): Generator<Step> {
  for (const [a, node] of mesh.nodes.entries()) {
    const change: Change = (what, of) => {
      const after = copyOf(mesh);
      of(after.nodes[a]!, after);
      return [`${node.name} ${what}`, after];
    };
    yield* fates(node, given, change);
    if (!node.isThere) continue;
    yield* actions(mesh, a, { given, decide, change });
    yield* sights(mesh, a, change);
  }
  yield* traffic(mesh, () => copyOf(mesh));
}

/** What happens to a node, whatever it does. */
function* fates(node: MeshNode, { timesOut, reboots, joins, leaves }: Case, change: Change): Generator<Step> {
  const { name, isThere } = node;
  if (!isThere) {
    // One that left stays away.
    if (joins?.includes(name) === true && node.announced === null && node.reboots === 0)
      yield change('joins', (own) => (own.isThere = true));
    return;
  }
  if (node.later > 0 && node.due === 0)
    yield change('is due', (own) => {
      own.later--;
      own.due++;
    });
  if (node.next !== null && !node.hasTimedOut && timesOut?.includes(name) === true)
    yield change('times out', (own) => (own.hasTimedOut = true));
  if (node.reboots > 0) return;
  if (reboots?.includes(name) === true) yield change('reboots', (own, after) => stop(after, own));
  if (leaves?.includes(name) === true)
    yield change('leaves', (own, after) => {
      stop(after, own);
      Object.assign(own, { isThere: false, announced: null, next: null, due: 0, later: 0 });
    });
}

/** The next action of a node; or, if it is slow, its next decision, or the next action of that. */
function* actions(
  mesh: Mesh,
  a: number,
  { given, decide, change }: { given: Case; decide: Decide; change: Change },
): Generator<Step> {
  const { decided, name } = mesh.nodes[a]!;
  if (decided.length > 0) {
    const [action, ...rest] = decided;
    yield change(textOf(action!), (own, after) => {
      if (carryOut(after, a, { action: action!, given })) own.decided = rest;
    });
    yield change('is killed', (own) => (own.decided = []));
    return;
  }
  const own = observe(mesh, a);
  const remotes = remotesOf(mesh, a, given.old ?? []);
  const isOld = given.old?.includes(name) === true;
  const next = isOld ? decideOld(own, remotes) : decide(own, remotes, clockOf(mesh.nodes[a]!));
  const [first] = next;
  if (first === undefined) return;
  if (given.isSlow === true) yield change(`decides: ${next.map(textOf).join(', ')}`, (it) => (it.decided = [...next]));
  else yield change(textOf(first), (_own, after) => carryOut(after, a, { action: first, given }));
}

/** Announcements of others that arrive. */
function* sights(mesh: Mesh, a: number, change: Change): Generator<Step> {
  for (const x of othersOf(mesh, a)) {
    const { name, announced } = mesh.nodes[x]!;
    const seen = mesh.nodes[a]!.seen[x] ?? null;
    if (seen?.key !== announced?.key || seen?.plane !== announced?.plane)
      yield change(`sees ${announced?.key ?? `no ${name}`} on plane ${announced?.plane}`, (own) => {
        own.seen[x] = announced;
      });
  }
}

/** @returns whether all of the action is done */
function carryOut(mesh: Mesh, a: number, { action, given }: { action: Action; given: Case }): boolean {
  const { routed } = mesh.nodes[a]!;
  if (given.hasRanges === true && (action.kind === 'route-node' || action.kind === 'unroute-node')) {
    const x = mesh.nodes.findIndex(({ name }) => name === action.node);
    if (routed[x] === (action.kind === 'unroute-node')) {
      routed[x] = 'some';
      return false;
    }
  }
  apply(mesh, a, action);
  return true;
}

const textOf = ({ kind, ...facts }: Action): string =>
  [kind, ...Object.entries(facts).map(([name, value]) => `${name}=${value}`)].join(' ');

/** A Go program, or an older release: it has plane 0 alone, and replaces the key of a peer there at once. */
function decideOld(own: ReturnType<typeof observe>, remotes: ReturnType<typeof remotesOf>): readonly Action[] {
  const { current } = own.keys;
  if (own.devices[0] === undefined) return [{ kind: 'create-device', plane: 0, publicKey: current.publicKey }];
  if (own.subnets === undefined) return [{ kind: 'route-subnets', plane: 0 }];
  const peers = own.devices[0].peers;
  return [...remotes]
    .filter(([node, { publicKey }]) => peers.get(node)?.publicKey !== publicKey)
    .map(([node, { publicKey, endpoint }]) => ({
      kind: 'set-peer',
      plane: 0,
      node,
      publicKey,
      keepsAlive: true,
      endpoint,
    }));
}
