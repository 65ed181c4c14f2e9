import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Codec, type LabelSelector, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { crossClusterRules } from '../policies/cross-cluster-rules.ts';
import { ciliumSink } from '../sinks/cilium-sink.ts';
import { wholeCompanions } from '../sinks/grouped-sink.ts';
import { companionChanges, type CompanionChangesInput } from './changes.ts';
import { networkPolicySink, type ObservedCompanion, observedCompanion } from './companion.ts';
import { desiredCompanions, type RemoteView } from './companions.ts';
import { type CompanionPhase, diffCompanions } from './diff.ts';

const K = 'cluster.clusterset.k8s.io';
const NONE: LabelSelector = { matchLabels: {}, matchExpressions: [] };
const SOURCE = { namespace: 'alpha', name: 'db', uid: 'u1', generation: 3, podSelector: NONE };

/** A rule that names every cluster. */
const RULES = crossClusterRules(
  {
    podSelector: NONE,
    policyTypes: ['Ingress'],
    ingress: [
      {
        ports: [],
        from: [
          {
            namespaceSelector: { matchLabels: {}, matchExpressions: [{ key: K, operator: 'Exists', values: [] }] },
            podSelector: NONE,
            ipBlock: { cidr: '', except: [] },
          },
        ],
      },
    ],
    egress: [],
  },
  K,
);

const codec = new Codec(networkPolicyKind);

type Remote = { readonly cluster: string; readonly known: boolean; readonly pods: readonly number[] };

/** A remote whose Pods have these numbers in their addresses; counts who asks for them. */
function viewOf({ cluster, known, pods }: Remote, asked: { count: number } = { count: 0 }): RemoteView {
  if (!known) return { cluster, known, isAllowed: () => true };
  const podsOf = () => {
    asked.count += 1;
    return pods.map((pod) => ({ cidrs: [addressOf(cluster, pod)], namedPorts: [] }));
  };
  return { cluster, known, podsOf };
}

const addressOf = (cluster: string, pod: number): string => `10.${cluster.slice(1)}.0.${pod}/32`;

function input(views: readonly RemoteView[], observed: readonly ObservedCompanion[]): CompanionChangesInput {
  return {
    source: SOURCE,
    remotes: views.map((view) => ({ view, rules: RULES })),
    observed,
    isTaken: () => false,
    maxAddressesPerPolicy: 3,
    maxAddressesPerSource: 5_000,
    sink: networkPolicySink,
  };
}

/** What is there after the changes, each object the same while it isn't written. */
function after(
  observed: readonly ObservedCompanion[],
  phases: readonly CompanionPhase[],
): readonly ObservedCompanion[] {
  const objects = new Map(observed.map((each) => [each.name, each]));
  for (const change of phases.flat()) {
    if (change.kind === 'delete') objects.delete(change.from.name);
    else objects.set(change.to.metadata.name, read(change.to));
  }
  return [...objects.values()];
}

const read = (to: { readonly metadata: object; readonly spec: unknown }): ObservedCompanion =>
  observedCompanion(codec.objectFromJson({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...to }));

/** All there is when nothing has to change any more. */
function settled(of: (observed: readonly ObservedCompanion[]) => CompanionChangesInput) {
  let observed: readonly ObservedCompanion[] = [];
  for (let steps = 0; steps < 10; steps++) {
    const { phases } = companionChanges(of(observed));
    if (phases.length === 0) return observed;
    observed = after(observed, phases);
  }
  return expect.fail('it never settles');
}

const pods = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 8 });
const world = fc.uniqueArray(
  fc.record({ cluster: fc.constantFrom('c1', 'c2', 'c3', 'c4'), known: fc.constantFrom(true, true, false), pods }),
  { selector: ({ cluster }) => cluster },
);

describe('the changes of the companions of a source', () => {
  it('are those of all remotes computed together, whatever the limits, and whichever names others have', () => {
    const limits = fc.record({
      maxAddressesPerPolicy: fc.integer({ min: 1, max: 5 }),
      maxAddressesPerSource: fc.integer({ min: 1, max: 30 }),
      takesNames: fc.constantFrom(true, false, false),
      sink: fc.constantFrom(networkPolicySink, networkPolicySink, ciliumSink),
    });
    fc.assert(
      fc.property(world, world, limits, (before, now, { takesNames, ...more }) => {
        const observed = settled((each) =>
          input(
            before.map((remote) => viewOf({ ...remote, known: true })),
            each,
          ),
        );
        const taken = takesNames ? observed.slice(0, 1).map(({ name }) => name) : [];
        const given = {
          ...input(
            now.map((remote) => viewOf(remote)),
            observed.filter(({ name }) => !taken.includes(name)),
          ),
          ...more,
          isTaken: (name: string) => taken.includes(name),
        };
        const { source, sink } = given;
        const together = desiredCompanions({
          ...given,
          observed: wholeCompanions(given.observed),
          maxRules: sink.maxRules,
        });
        const { phases, diagnostics } = companionChanges(given);
        const byName = (all: readonly CompanionPhase[]) =>
          all.map((phase) => phase.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)));
        expect(byName(phases)).toEqual(byName(diffCompanions(source, given.observed, together.companions, sink)));
        expect(diagnostics).toEqual(together.diagnostics);
      }),
    );
  });

  it('cost one look at the Pods of one remote when it alone changed, with two remotes and with fifty', () => {
    for (const count of [2, 50]) {
      const asked = { count: 0 };
      const remotes = Array.from({ length: count }, (_, i) => ({ cluster: `c${i}`, known: true, pods: [1, 2] }));
      const views = remotes.map((remote) => viewOf(remote, asked));
      const observed = settled((each) => input(views, each));
      expect(observed).toHaveLength(count);
      asked.count = 0;
      const changed = [viewOf({ cluster: 'c0', known: true, pods: [1, 3] }, asked), ...views.slice(1)];
      const { phases } = companionChanges(input(changed, observed));
      expect(phases.flat().map(({ kind }) => kind)).toEqual(['update']);
      expect(asked.count).toBe(1);
      expect(companionChanges(input(changed, after(observed, phases))).phases).toEqual([]);
      expect(asked.count).toBe(2);
    }
  });

  it('delete what is for a remote that no rule names', () => {
    const views = ['c1', 'c2'].map((cluster) => viewOf({ cluster, known: true, pods: [1] }));
    const observed = settled((each) => input(views, each));
    const { phases } = companionChanges(input(views.slice(1), observed));
    expect(phases.flat()).toMatchObject([{ kind: 'delete', from: { remote: 'c1' } }]);
  });
});

const nameOf = (change: CompanionPhase[number]): string =>
  change.kind === 'delete' ? change.from.name : `${change.resource.kind} ${change.to.metadata.name}`;
