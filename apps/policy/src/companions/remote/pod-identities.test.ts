import type { LabelSelector } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crossClusterRules,
  type Labels,
  podIdentity,
  type PodIdentity,
  selectsPod,
} from '@kube-semaphore/network-policies';
import { PodIdentities } from './pod-identities.ts';

const K = 'cluster.clusterset.k8s.io';
const labels = (matchLabels: Labels): LabelSelector => ({ matchLabels, matchExpressions: [] });

function rulesOf(...peers: { namespace?: Labels; pod?: Labels; without?: string; apps?: string[]; has?: string }[]) {
  const selectors = peers.map(({ namespace = {}, pod = {}, without, apps, has }) => ({
    namespaceSelector: {
      matchLabels: { [K]: 'c2', ...namespace },
      matchExpressions: without === undefined ? [] : [{ key: without, operator: 'DoesNotExist', values: [] }],
    },
    podSelector: {
      matchLabels: pod,
      matchExpressions: [
        ...(apps === undefined ? [] : [{ key: 'app', operator: 'In', values: apps }]),
        ...(has === undefined ? [] : [{ key: has, operator: 'Exists', values: [] }]),
      ],
    },
    ipBlock: { cidr: '', except: [] },
  }));
  return crossClusterRules(
    {
      podSelector: labels({}),
      policyTypes: ['Ingress'],
      ingress: [{ ports: [], from: selectors }],
      egress: [],
    },
    K,
  );
}

function start() {
  const reported: string[][] = [];
  const identities = new PodIdentities({
    key: K,
    id: 'c2',
    labels: {},
    onChange: (sources) => void reported.push([...sources].toSorted()),
  });
  /** What was reported since the last call. */
  const changes = () => reported.splice(0).flat();
  return { identities, changes };
}

const identity = (namespace: string, app: string) => podIdentity(namespace, { app }, []);
const at = (of: PodIdentity, ip: string) => ({ identity: of, cidrs: [`${ip}/32`] });
const WEB = identity('beta', 'web');

describe('PodIdentities', () => {
  it('has one object for equal identities, as long as a Pod has it', () => {
    const { identities } = start();
    identities.setPod('beta/a', undefined, at(WEB, '10.2.0.1'));
    const again = identity('beta', 'web');
    expect(identities.intern(again)).toBe(WEB);
    identities.setPod('beta/a', WEB, undefined);
    expect(identities.intern(again)).toBe(again);
  });

  it('knows the addresses of Pods whose namespace it does not know', () => {
    const { identities } = start();
    identities.setNamespace('gamma', {});
    identities.setPod('beta/a', undefined, at(WEB, '10.2.0.1'));
    identities.setPod('gamma/b', undefined, at(identity('gamma', 'web'), '10.2.0.2'));
    expect([...identities.unplaced()]).toEqual(['10.2.0.1/32']);
    identities.setNamespace('beta', {});
    expect([...identities.unplaced()]).toEqual([]);
    identities.setNamespace('gamma', undefined);
    expect([...identities.unplaced()]).toEqual(['10.2.0.2/32']);
    identities.setPod('gamma/b', identity('gamma', 'web'), undefined);
    expect([...identities.unplaced()]).toEqual([]);
  });

  const cidrsOf = (identities: PodIdentities, rules: ReturnType<typeof rulesOf>) =>
    rules.flatMap((rule) => identities.podsOf(rule).flatMap(({ cidrs }) => cidrs)).toSorted();

  it('finds the Pods that a peer selects, whichever of Pod, namespace and policy comes last', () => {
    const rules = rulesOf({ namespace: { team: 'a' }, pod: { app: 'web' } });
    const steps = [
      ({ identities }: ReturnType<typeof start>) => identities.setNamespace('beta', { team: 'a' }),
      ({ identities }: ReturnType<typeof start>) => identities.setPod('web-1', undefined, at(WEB, '10.2.0.20')),
      ({ identities }: ReturnType<typeof start>) => identities.setSource('alpha/db', rules),
    ];
    for (const last of [0, 1, 2]) {
      const started = start();
      for (const step of [...steps.filter((_, i) => i !== last), steps[last]!]) step(started);
      expect(cidrsOf(started.identities, rules)).toEqual(['10.2.0.20/32']);
    }
  });

  it('reports the sources whose peers select the Pod before or after, and no other', () => {
    const { identities, changes } = start();
    identities.setNamespace('beta', {});
    identities.setSource('alpha/web', rulesOf({ pod: { app: 'web' } }));
    identities.setSource('alpha/db', rulesOf({ pod: { app: 'db' } }));
    identities.setSource('alpha/shop', rulesOf({ pod: { app: 'shop' } }));
    identities.setPod('p', undefined, at(WEB, '10.2.0.20'));
    expect(changes()).toEqual(['alpha/web']);
    identities.setPod('p', WEB, at(identity('beta', 'db'), '10.2.0.20'));
    expect(changes()).toEqual(['alpha/db', 'alpha/web']);
    identities.setPod('p', identity('beta', 'db'), undefined);
    expect(changes()).toEqual(['alpha/db']);
  });

  it('reports the sources that a change of a namespace affects', () => {
    const { identities, changes } = start();
    identities.setSource('alpha/db', rulesOf({ namespace: { team: 'a' } }));
    identities.setSource('alpha/web', rulesOf({}));
    identities.setNamespace('beta', {});
    identities.setPod('p', undefined, at(WEB, '10.2.0.20'));
    changes();
    identities.setNamespace('beta', { team: 'a' });
    expect(changes()).toEqual(['alpha/db']);
    identities.setNamespace('beta', {});
    expect(changes()).toEqual(['alpha/db']);
  });

  it('selects no Pod of a namespace that is not known, also for what asks that a label is absent', () => {
    const { identities } = start();
    const rules = rulesOf({ without: 'restricted' });
    identities.setSource('alpha/db', rules);
    identities.setPod('p', undefined, at(WEB, '10.2.0.20'));
    expect(cidrsOf(identities, rules)).toEqual([]);
    identities.setNamespace('beta', { restricted: 'yes' });
    expect(cidrsOf(identities, rules)).toEqual([]);
    identities.setNamespace('beta', {});
    expect(cidrsOf(identities, rules)).toEqual(['10.2.0.20/32']);
    identities.setNamespace('beta', undefined);
    expect(cidrsOf(identities, rules)).toEqual([]);
  });

  it('lets no remote say how its cluster or its namespaces are called', () => {
    const { identities } = start();
    const rules = rulesOf({ namespace: { 'kubernetes.io/metadata.name': 'billing' } });
    const other = rulesOf({ namespace: { [K]: 'c3' } });
    identities.setSource('alpha/db', [...rules, ...other]);
    identities.setNamespace('beta', { 'kubernetes.io/metadata.name': 'billing', [K]: 'c3' });
    identities.setPod('p', undefined, at(WEB, '10.2.0.20'));
    expect(cidrsOf(identities, [...rules, ...other])).toEqual([]);
  });

  it('compares no identity with a peer that asks for a label which it lacks', () => {
    const readsFor = (peers: number): number => {
      const { identities } = start();
      let reads = 0;
      const getOwnPropertyDescriptor = (target: Labels, key: string) => {
        reads++;
        return Reflect.getOwnPropertyDescriptor(target, key);
      };
      for (let i = 0; i < peers; i++) identities.setSource(`alpha/${i}`, rulesOf({ has: `key-${i}` }));
      const of = {
        ...WEB,
        labels: new Proxy<Labels>(WEB.labels, { getOwnPropertyDescriptor } as ProxyHandler<Labels>),
      };
      identities.setPod('p', undefined, at(of, '10.2.0.20'));
      identities.setNamespace('beta', {});
      return reads;
    };
    expect(readsFor(100)).toBe(readsFor(1));
  });

  it('forgets the identities of Pods that are gone, and peers that no source has', () => {
    const { identities, changes } = start();
    const rules = rulesOf({});
    identities.setNamespace('beta', {});
    identities.setSource('alpha/db', rules);
    identities.setSource('alpha/web', rules);
    identities.setPod('p', undefined, at(WEB, '10.2.0.20'));
    identities.setSource('alpha/db', []);
    expect(cidrsOf(identities, rules)).toEqual(['10.2.0.20/32']);
    identities.setSource('alpha/web', []);
    changes();
    identities.setPod('p', WEB, at(WEB, '10.2.0.21'));
    expect(changes()).toEqual([]);
    identities.setPod('p', WEB, undefined);
    expect(identities.size).toBe(0);
  });

  it('finds after any history what a look at everything finds, and reports each source that finds something else', () => {
    const namespaces = fc.constantFrom('a', 'b');
    const teams = fc.constantFrom('x', 'y');
    const pods = fc.constantFrom('p1', 'p2', 'p3');
    const apps = fc.constantFrom('web', 'db');
    const sources = fc.constantFrom('s1', 's2');
    const peer = fc.record(
      {
        namespace: fc.record({ team: teams }),
        pod: fc.record({ app: apps }),
        without: fc.constant('closed'),
        apps: fc.array(apps, { minLength: 1, maxLength: 2 }),
        has: fc.constantFrom('app', 'tier'),
      },
      { requiredKeys: [] },
    );
    const step = fc.oneof(
      fc.record({ kind: fc.constant('namespace' as const), name: namespaces, team: fc.option(teams) }),
      fc.record({ kind: fc.constant('pod' as const), namespace: namespaces, name: pods, app: fc.option(apps) }),
      fc.record({ kind: fc.constant('source' as const), name: sources, peers: fc.array(peer, { maxLength: 2 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { identities, changes } = start();
        const world = {
          namespaces: new Map<string, Labels>(),
          pods: new Map<string, PodIdentity>(),
          sources: new Map<string, ReturnType<typeof rulesOf>>(),
        };
        const found = () =>
          Array.from(world.sources, ([source, rules]) => [source, cidrsOf(identities, rules)] as const);
        for (const each of steps) {
          const before = new Map(found());
          if (each.kind === 'namespace') {
            const of = each.team === null ? undefined : { team: each.team };
            identities.setNamespace(each.name, of);
            if (of === undefined) world.namespaces.delete(each.name);
            else world.namespaces.set(each.name, of);
          } else if (each.kind === 'pod') {
            const name = `${each.namespace}/${each.name}`;
            const now = each.app === null ? undefined : identity(each.namespace, each.app);
            identities.setPod(name, world.pods.get(name), now && { identity: now, cidrs: [name] });
            if (now === undefined) world.pods.delete(name);
            else world.pods.set(name, now);
          } else {
            const rules = each.peers.length === 0 ? [] : rulesOf(...each.peers);
            identities.setSource(each.name, rules);
            world.sources.set(each.name, rules);
          }
          const reported = changes();
          // A policy that changes is known to have done so.
          const changed = found().filter(([source, cidrs]) => cidrs.join() !== before.get(source)?.join());
          const unreported = changed.filter(([source]) => !reported.includes(source));
          expect(each.kind === 'source' ? [] : unreported).toEqual([]);
        }
        for (const rules of world.sources.values())
          for (const rule of rules) {
            const want = [...world.pods].flatMap(([name, { namespace, labels: of }]) => {
              const known = world.namespaces.get(namespace);
              const all = { ...known, 'kubernetes.io/metadata.name': namespace, [K]: 'c2' };
              return known !== undefined && rule.peers.some((one) => selectsPod(one, all, of)) ? [name] : [];
            });
            expect(
              identities
                .podsOf(rule)
                .flatMap(({ cidrs }) => cidrs)
                .toSorted(),
            ).toEqual(want.toSorted());
          }
      }),
    );
  });
});
