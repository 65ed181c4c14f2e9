import fc from 'fast-check';
import { expect, it } from 'vitest';
import { slice } from '../../../test/arbitraries.ts';
import { oneExport } from '../../../test/mcs/arbitraries.ts';
import { mergedByRules } from '../../../test/mcs/rules.ts';
import { SetSimulation } from '../../../test/mcs/set-simulation.ts';
import { addressesOf } from '../../endpoints/desired/compact.ts';
import { conflictReasons } from './conditions.ts';

const NAMES = ['c1', 'c2', 'c3'];
const cluster = fc.constantFrom(...NAMES);
const slices = fc.uniqueArray(slice({ namespace: 'shop', service: 'web' }), {
  selector: ({ name }) => name,
  maxLength: 2,
});

type Step = { readonly what: string; readonly run: (set: SetSimulation) => void };

/** Of both families: the primary one is immutable, and so depends on the past. */
const exporting = fc.record({ at: cluster, exported: oneExport, slices }).map(({ at, exported, slices: own }): Step => {
  const definition = { ...exported.definition, families: ['IPv4', 'IPv6'] as const };
  return {
    what: `export ${at}`,
    run: (set) => set.export(at, { export: { ...exported, cluster: at, definition }, slices: own }),
  };
});

const step: fc.Arbitrary<Step> = fc.oneof(
  exporting,
  exporting,
  cluster.map((at): Step => ({ what: `unexport ${at}`, run: (set) => set.unexport(at) })),
  cluster.map((at): Step => ({ what: `restart ${at}`, run: (set) => set.restart(at) })),
  fc
    .tuple(cluster, cluster)
    .map(([at, of]): Step => ({ what: `${at} loses ${of}`, run: (set) => void set.at(at).lost.add(of) })),
  fc
    .tuple(cluster, cluster)
    .map(([at, of]): Step => ({ what: `${at} finds ${of}`, run: (set) => void set.at(at).lost.delete(of) })),
  ...[1, 2, 3, 4].map(() => cluster.map((at): Step => ({ what: `work ${at}`, run: (set) => void set.work(at) }))),
);

const history = fc.array(step, { maxLength: 40 });

function run(steps: readonly Step[]): SetSimulation {
  const set = new SetSimulation(NAMES);
  for (const each of steps) each.run(set);
  return set;
}

it('all clusters agree with the rules once they are quiet, whatever happened', () => {
  fc.assert(
    fc.property(history, (steps) => {
      const set = run(steps);
      set.quiet();
      const { exports } = set;
      const imports = set.names.map((name) => set.at(name).objects.serviceImport);
      const want = exports.length === 0 ? undefined : mergedByRules(exports);
      expect(imports.map((found) => found && shownBy(found.spec, found.clusters))).toEqual(
        set.names.map(() => want && shownBy(specOf(want.fields), exports.map((each) => each.cluster).toSorted())),
      );
      const conditions = exports.map((each) => conflictReasons(set.at(each.cluster).conditions));
      expect(conditions).toEqual(exports.map(() => want?.reasons));
    }),
    { numRuns: 500 },
  );
});

it('a restart that reads nothing writes nothing', () => {
  fc.assert(
    fc.property(history, cluster, (steps, at) => {
      const set = run(steps);
      set.quiet();
      const before = set.at(at).objects;
      set.restart(at);
      for (const name of NAMES) set.at(at).lost.add(name);
      set.work(at);
      expect(set.at(at).objects).toEqual(before);
    }),
  );
});

it('an import and its slices of a lost cluster stay, whatever the others do', () => {
  fc.assert(
    fc.property(history, history, (steps, more) => {
      const set = run(steps);
      set.quiet();
      const ofC3 = () =>
        set
          .at('c1')
          .objects.slices.filter(({ labels }) => labels['multicluster.kubernetes.io/source-cluster'] === 'c3')
          .flatMap(({ endpoints }) => endpoints.flatMap(addressesOf));
      const before = ofC3();
      const isPart = set.at('c1').objects.serviceImport?.clusters.includes('c3') === true;
      set.at('c1').lost.add('c3');
      set.restart('c1');
      for (const { what, run: change } of more) if (what !== 'c1 finds c3') change(set);
      for (let i = 0; i < 10; i++) set.work('c1');
      expect(ofC3()).toEqual(before);
      expect(!isPart || set.at('c1').objects.serviceImport?.clusters.includes('c3')).toBe(true);
    }),
  );
});

type Fields = ReturnType<typeof mergedByRules>['fields'];
type Shown = Omit<Fields, 'headless' | 'labels' | 'annotations' | 'ports' | 'families'> & {
  readonly type: string;
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
};

const specOf = ({ headless, ...fields }: Fields): Shown => ({
  ...fields,
  type: headless ? 'Headless' : 'ClusterSetIP',
});

/** What all clusters show alike: the addresses are their own. */
const shownBy = (spec: Shown, clusters: readonly string[]) => ({
  type: spec.type,
  ports: spec.ports.map(({ name, protocol, port }) => `${protocol} ${port} ${name}`),
  affinitySeconds: spec.affinitySeconds,
  internalTrafficPolicy: spec.internalTrafficPolicy,
  trafficDistribution: spec.trafficDistribution,
  clusters,
});
