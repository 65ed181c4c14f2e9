import { isReady, type DesiredSlice } from '../objects.ts';
import type { Family } from '../source.ts';
import type { ClusterOrder, MinReady } from './order.ts';

/**
 * What a cluster's endpoints are for. kube-proxy sends packets to `first` alone while one of its endpoints is ready, then to
 * `second`, then to all others together, without any help of ours: see `inRole`.
 */
export type Role = 'first' | 'second' | 'standby';

/** A cluster that a level of the order has. */
export type Member = {
  readonly cluster: string;
  /** Its place in the order. */
  readonly level: number;
  /** `drained`: by an operator. `stale`: not reached for its `staleAfter`. Both are used only if no `active` one can be. */
  readonly state: 'active' | 'drained' | 'stale';
  /** With the conditions that its own cluster says. */
  readonly slices: readonly Pick<DesiredSlice, 'family' | 'endpoints'>[];
};

/**
 * The levels that are down by `minReady`, by their text, with when they got enough ready endpoints again: monotonic ms;
 * undefined: they have too few. The next decision about the same Service needs it.
 */
export type DownLevels = ReadonlyMap<string, number | undefined>;

export const NO_LEVELS: DownLevels = new Map();

export type RolesInput = {
  readonly order: ClusterOrder;
  readonly members: readonly Member[];
  /** Undefined: a level is up while one of its endpoints is ready. */
  readonly minReady: MinReady | undefined;
  /** Whether consumers can tell `first` from `second`: kube-proxy needs hints for that, and DNS knows only what is ready. */
  readonly hasSecond: boolean;
  readonly down: DownLevels;
  /** Monotonic. */
  readonly nowMs: number;
};

/** A level of the order, and why it is up or not. */
export type LevelReport = {
  /** As the order has it. */
  readonly level: string;
  /** Those that have the Service. */
  readonly clusters: readonly string[];
  /** The best one of its clusters; undefined: none has the Service. */
  readonly role: Role | undefined;
  /**
   * `not-ready`: it has no ready endpoint. `min-ready`: it has too few. `waiting`: it has had enough for less than `UP_AFTER_MS`.
   * `drained`, `stale`: so are all its clusters.
   */
  readonly state: 'up' | 'not-ready' | 'min-ready' | 'waiting' | 'drained' | 'stale' | undefined;
};

export type Roles = {
  /** Of each member. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly down: DownLevels;
  /** In the order's order. */
  readonly levels: readonly LevelReport[];
  /** When a level is up again if nothing changes until then, monotonic; undefined: none waits for that. */
  readonly dueMs: number | undefined;
};

/** How long a level must have enough ready endpoints before it is up again: one that flaps must not move traffic each time. */
export const UP_AFTER_MS = 30_000;

const STATES: readonly Member['state'][] = ['active', 'drained', 'stale'];
const ROLES: readonly Role[] = ['first', 'second', 'standby'];
const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/**
 * The best level that is up is `first`, the next one `second`. If too few levels are up, others that have a ready endpoint take
 * their place. Clusters that are drained, then those that are stale, take the first place if no other has a ready endpoint.
 */
export function rolesOf({ order, members, minReady, hasSecond, down: before, nowMs }: RolesInput): Roles {
  const down = new Map<string, number | undefined>();
  const groups = STATES.flatMap((state) =>
    order.map(({ text }, level) => {
      const own = members.filter((member) => member.state === state && member.level === level);
      const slices = own.flatMap((member) => member.slices);
      const hasReady = slices.some(({ endpoints }) => endpoints.some(isReady));
      const isCounted = state === 'active' && minReady !== undefined && own.length > 0;
      const isUp = isCounted ? isLevelUp(text, isEnough(slices, minReady), { before, down, nowMs }) : hasReady;
      return { state, own, hasReady, isUp };
    }),
  );
  const candidates = groups.filter(({ hasReady }) => hasReady);
  const inState = STATES.map((state) => candidates.filter((group) => group.state === state)).find(isNotEmpty) ?? [];
  const [first, second] = [...inState.filter(({ isUp }) => isUp), ...inState.filter(({ isUp }) => !isUp)];
  const isIn = (group: (typeof groups)[number] | undefined, member: Member): boolean =>
    group?.own.includes(member) === true;
  const next = hasSecond && second?.state === 'active' ? second : undefined;
  const roleOf = (member: Member): Role => (isIn(first, member) ? 'first' : isIn(next, member) ? 'second' : 'standby');
  const waits = [...down.values()].filter((since) => since !== undefined);
  const levels = order.map(({ text }, level): LevelReport => {
    const own = members.filter((member) => member.level === level);
    const found = own.map(roleOf);
    const group = groups.find((each, i) => i % order.length === level && each.own.length > 0);
    return {
      level: text,
      clusters: own.map(({ cluster }) => cluster).toSorted(),
      role: ROLES.find((role) => found.includes(role)),
      state: group && stateOf(group, { since: down.get(text) }),
    };
  });
  return {
    roles: new Map(members.map((member) => [member.cluster, roleOf(member)])),
    down,
    levels,
    dueMs: waits.length === 0 ? undefined : Math.min(...waits) + UP_AFTER_MS,
  };
}

/** @param since when it got enough ready endpoints again; undefined: it has too few, or isn't counted */
function stateOf(
  { state, hasReady, isUp }: { readonly state: Member['state']; readonly hasReady: boolean; readonly isUp: boolean },
  { since }: { readonly since: number | undefined },
): LevelReport['state'] {
  if (state !== 'active') return state;
  if (!hasReady) return 'not-ready';
  if (isUp) return 'up';
  return since === undefined ? 'min-ready' : 'waiting';
}

const isNotEmpty = (items: readonly unknown[]): boolean => items.length > 0;

/** Whether a level is up, by `minReady`; if not, it is added to `down`. */
function isLevelUp(
  level: string,
  hasEnough: boolean,
  { before, down, nowMs }: Pick<RolesInput, 'nowMs'> & { before: DownLevels; down: Map<string, number | undefined> },
): boolean {
  if (hasEnough && !before.has(level)) return true;
  const since = hasEnough ? (before.get(level) ?? nowMs) : undefined;
  if (since !== undefined && nowMs - since >= UP_AFTER_MS) return true;
  down.set(level, since);
  return false;
}

/** Whether endpoints of one family are enough: a Pod with two addresses is in the slices of both. */
const isEnough = (slices: Member['slices'], minReady: MinReady): boolean =>
  FAMILIES.some((family) => {
    const [all, ready] = [new Set<string>(), new Set<string>()];
    for (const { endpoints } of slices.filter((slice) => slice.family === family))
      for (const endpoint of endpoints) {
        if (isReady(endpoint)) ready.add(endpoint.address);
        // In a rolling update, those that leave don't count.
        if (endpoint.conditions.terminating !== true) all.add(endpoint.address);
      }
    const least = 'count' in minReady ? minReady.count : Math.ceil((all.size * minReady.percent) / 100);
    return ready.size >= Math.max(1, least);
  });
