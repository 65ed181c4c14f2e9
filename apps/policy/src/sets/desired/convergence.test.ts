import { isDnsSubdomain } from '@kube-semaphore/naming';
import { setKey, setKeyOfName, setNames } from '../../names.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change, Phase } from './change.ts';
import { desiredSets, type WantedPair } from './sets.ts';
import { carryOut } from '../../local/carry-out.ts';
import { diffSets } from './diff.ts';
import type { HostNetworkPods } from './host-network.ts';
import type { ObservedSet } from './network-set.ts';
import { independentOf } from './write-phases.ts';

/**
 * `desiredSets` and `diffSets` together, through histories: Pods come and go, the limit changes, users create objects with
 * our names, and we crash during writes. There are few names and addresses, so that everything collides.
 */

const CLUSTER = 'c2';
const DOMAIN = 'semaphore.uw.systems';
const identity = { domain: DOMAIN, managedBy: 'calico-global-network-sync-operator' };

type PodOf = { readonly pair: string; readonly ip: string; readonly hostNetwork: boolean };

type World = {
  readonly pods: readonly PodOf[];
  readonly max: number;
  readonly hostNetworkPods: HostNetworkPods;
  /** Names that users take, unless we have them. */
  readonly wished: readonly string[];
  /** Which sets users edit, and how. */
  readonly edits: readonly { readonly set: number; readonly edit: 'labels' | 'nets' | 'delete' }[];
  /** How many phases are written completely, and which changes of the next phase. */
  readonly phasesWritten: number;
  readonly changesWritten: readonly boolean[];
};

type Sets = ReadonlyMap<string, ObservedSet>;

/** One key, in many spellings: two pairs with one plain name, labels to legalise, names with the same end. */
const SUFFIXED = setNames(CLUSTER, 'a', 'b_c').suffixed.slice(`${CLUSTER}-a-`.length);
const PAIRS = ['a/b-c', 'a-b/c', 'a/b_c', `a/${SUFFIXED}`, `a/${SUFFIXED}-s1`];
const KEY = setKey(CLUSTER, 'a', 'b-c');
const NAMES = PAIRS.flatMap((text) => {
  const { plain, suffixed } = setNames(CLUSTER, ...splitPair(text));
  return [...(plain === undefined ? [] : [plain]), suffixed, `${suffixed}-s1`, `${suffixed}-s2`];
});

const mostly = (value: boolean) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(!value) });

const pod: fc.Arbitrary<PodOf> = fc.record({
  pair: fc.constantFrom(...PAIRS),
  ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6', 'fd00::1'),
  hostNetwork: mostly(false),
});

/** Most Pods stay from one world to the next, so that there are addresses to lose. */
function historyWith(edits: fc.Arbitrary<World['edits']>): fc.Arbitrary<readonly World[]> {
  return fc.array(pod, { maxLength: 14 }).chain((pods) =>
    fc.array(
      fc.record({
        pods: fc
          .array(mostly(true), { minLength: pods.length, maxLength: pods.length })
          .map((present) => pods.filter((_, i) => present[i])),
        max: fc.integer({ min: 1, max: 5 }),
        hostNetworkPods: fc.constantFrom('exclude', 'include', 'retain'),
        wished: fc.oneof(fc.constant([]), fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 })),
        edits,
        phasesWritten: fc.oneof(fc.constant(9), fc.nat(3)),
        changesWritten: fc.array(fc.boolean(), { maxLength: 6 }),
      }),
      { minLength: 2, maxLength: 6 },
    ),
  );
}

describe('a history without edits', () => {
  it('never has a gap for an address that is there before and after', () => {
    fc.assert(
      fc.property(historyWith(fc.constant([])), (history) => {
        live(history, ({ before, phases, after }) => {
          const wanted = entriesOf(after);
          const staying = [...entriesOf(before)].filter((entry) => wanted.has(entry));
          for (const state of statesBetween(before, phases)) {
            const present = entriesOf(state);
            expect(staying.filter((entry) => !present.has(entry))).toEqual([]);
          }
        });
      }),
      { numRuns: 400 },
    );
  });
});

describe('a history in which the API server refuses some sets', () => {
  it('never has a gap for an address that is there before and after, and no later write waits without need', async () => {
    await fc.assert(
      fc.asyncProperty(
        historyWith(fc.constant([])),
        fc.array(fc.boolean(), { maxLength: 8 }),
        async (history, refused) => {
          const reconciles: Reconcile[] = [];
          live(history, (reconcile) => void reconciles.push(reconcile));
          for (const { before, phases, after } of reconciles) {
            const names = phases.flat().map((change) => ('to' in change ? change.to.name : change.from.name));
            const isRefused = (name: string): boolean => refused[names.indexOf(name)] === true;
            const wanted = entriesOf(after);
            const staying = [...entriesOf(before)].filter((entry) => wanted.has(entry));
            const tried = new Set<string>();
            let state = before;
            await carryOut(phases, {
              clustersOf: () => [CLUSTER],
              isIndependent: independentOf(phases, [DOMAIN]),
              write: async (change) => {
                const { name } = 'to' in change ? change.to : change.from;
                tried.add(name);
                if (isRefused(name)) return undefined;
                state = apply(state, change);
                const present = entriesOf(state);
                expect(staying.filter((entry) => !present.has(entry))).toEqual([]);
                return {};
              },
            });
            // A change that isn't tried would remove an address that another set was to get.
            const added = entriesOf(
              phases.flat().reduce((sets, change) => ('to' in change ? apply(sets, change) : sets), state),
            );
            for (const change of phases.flat()) {
              if (!('from' in change) || tried.has(change.from.name)) continue;
              expect(change.from.nets.some((net) => [...added].some((entry) => entry.endsWith(` ${net}`)))).toBe(true);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('any history', () => {
  const edit = fc.record({ set: fc.nat(5), edit: fc.constantFrom('labels', 'nets', 'delete') });
  const histories = historyWith(fc.array(edit, { maxLength: 3 }));

  it('ends in the desired state, and then changes nothing', () => {
    fc.assert(
      fc.property(histories, (history) => {
        live(history, ({ now, foreign, after }) => {
          const again = plan(now, after, foreign);
          expect(again.phases).toEqual([]);
          expect(again.desired).toEqual(plan(now, new Map(shuffled(after)), foreign).desired);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('gives each pair exactly the addresses of its Pods, in sets with valid names of their key, none too full', () => {
    fc.assert(
      fc.property(histories, (history) => {
        live(history, ({ now, after, foreign }) => {
          const present = entriesOf(after);
          const atLeast = podEntries(now, { nodes: now.hostNetworkPods === 'include' });
          const atMost = podEntries(now, { nodes: now.hostNetworkPods !== 'exclude' });
          expect([...atLeast].filter((entry) => !present.has(entry))).toEqual([]);
          expect([...present].filter((entry) => !atMost.has(entry))).toEqual([]);
          for (const { name, nets } of after.values()) {
            expect(isDnsSubdomain(name) && setKeyOfName(name) === KEY && !foreign.has(name)).toBe(true);
            expect(nets.length > 0 && nets.length <= now.max).toBe(true);
          }
          const addresses = [...after.values()].reduce((sum, { nets }) => sum + nets.length, 0);
          expect(addresses).toBe(entriesOf(after).size);
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** One reconcile: the sets before, the planned writes, and the sets if all of them are written. */
type Reconcile = {
  readonly now: World;
  readonly foreign: ReadonlySet<string>;
  readonly before: Sets;
  readonly phases: readonly Phase[];
  readonly after: Sets;
};

function live(history: readonly World[], check: (reconcile: Reconcile) => void): void {
  let sets: Sets = new Map();
  for (const now of history) {
    const before = edited(sets, now.edits);
    const foreign = new Set(now.wished.filter((name) => !before.has(name)));
    const { phases } = plan(now, before, foreign);
    for (const change of phases.flat()) expect(isPossible(change, before)).toBe(true);
    const after = phases.flat().reduce(apply, before);
    check({ now, foreign, before, phases, after });
    const written = phases.slice(0, now.phasesWritten).flat();
    const begun = (phases[now.phasesWritten] ?? []).filter((_, i) => now.changesWritten[i] === true);
    sets = [...written, ...begun].reduce(apply, before);
  }
}

function plan(now: World, sets: Sets, foreign: ReadonlySet<string>) {
  const observed = [...sets.values()];
  const { max: maxNetsPerSet, hostNetworkPods } = now;
  const input = {
    domains: [DOMAIN],
    pairs: pairsOf(now),
    observed,
    isTaken: (name: string) => foreign.has(name),
    maxNetsPerSet,
    hostNetworkPods,
  };
  const desired = desiredSets(input).sets;
  return { desired, phases: diffSets(observed, desired, [DOMAIN]) };
}

/** Each object is written once, so each change starts from the first state. */
function isPossible(change: Change, before: Sets): boolean {
  return change.kind === 'create' ? !before.has(change.to.name) : before.get(change.from.name) === change.from;
}

function apply(sets: Sets, change: Change): Sets {
  const next = new Map(sets);
  if (change.kind === 'create') {
    next.set(change.to.name, { ...change.to, uid: 'u', resourceVersion: '1', annotations: {} });
  } else if (change.kind === 'update') next.set(change.from.name, change.to);
  else next.delete(change.from.name);
  return next;
}

/** After each prefix of the phases, and after each set of changes of the phase that follows. */
function* statesBetween(before: Sets, phases: readonly Phase[]): Generator<Sets> {
  let state = before;
  for (const phase of phases) {
    for (let subset = 0; subset < 2 ** phase.length; subset++) {
      yield phase.filter((_, i) => (subset & (1 << i)) !== 0).reduce(apply, state);
    }
    state = phase.reduce(apply, state);
  }
}

function edited(sets: Sets, edits: World['edits']): Sets {
  const next = new Map(sets);
  for (const { set: index, edit } of edits) {
    const set = [...next.values()][index];
    if (set === undefined) continue;
    if (edit === 'delete') next.delete(set.name);
    else if (edit === 'nets') next.set(set.name, { ...set, nets: ['10.0.0.1', '10.0.0.7/32', ...set.nets] });
    else next.set(set.name, { ...set, labels: { ...set.labels, [`${DOMAIN}/name`]: 'c', extra: '' } });
  }
  return next;
}

function pairsOf({ pods }: World): readonly WantedPair[] {
  const byPair = Map.groupBy(pods.entries(), ([, { pair }]) => pair);
  return Array.from(byPair, ([text, of]) => {
    const [namespace, app] = splitPair(text);
    const members = of.map(([i, { ip, hostNetwork }]) => {
      return { uid: `u${i}`, namespace, name: `pod-${i}`, app, ips: [ip], hostNetwork };
    });
    return { identity, cluster: CLUSTER, namespace, app, members };
  });
}

/** Which address is there for which pair, as a policy that selects by labels sees it. */
function entriesOf(sets: Sets): ReadonlySet<string> {
  return new Set(
    [...sets.values()].flatMap(({ labels, nets }) =>
      nets.map((net) => `${labels[`${DOMAIN}/namespace`]}/${labels[`${DOMAIN}/name`]} ${net}`),
    ),
  );
}

function podEntries({ pods }: World, { nodes }: { readonly nodes: boolean }): ReadonlySet<string> {
  const members = pods.filter(({ hostNetwork }) => !hostNetwork || nodes);
  return new Set(members.map(({ pair, ip }) => `${pair} ${ip}${ip.includes(':') ? '/128' : '/32'}`));
}

const shuffled = (sets: Sets) => [...sets].toReversed();

function splitPair(text: string): readonly [string, string] {
  const slash = text.indexOf('/');
  return [text.slice(0, slash), text.slice(slash + 1)];
}
