import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as arbitrary from '../../../../test/arbitraries.ts';
import { retainDefinition, mergeDefinitions, type Merged, type Participant } from './merge-definitions.ts';
import type { Definition, ServicePort } from '../source.ts';

const http: ServicePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: undefined, appProtocol: undefined };
const web: Definition = {
  headless: false,
  families: ['IPv4'],
  ports: [http],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
};

/** Clusters in the order of their names, the oldest first; a row may say how old one is. */
const clusters = (...definitions: readonly Partial<Definition & { createdAt: number }>[]): readonly Participant[] =>
  definitions.map(({ createdAt, ...definition }, i) => ({
    cluster: `c${i + 1}`,
    createdAt: createdAt ?? i,
    definition: { ...web, ...definition },
  }));

const conflictsOf = ({ conflicts }: Merged) =>
  conflicts.map(({ cluster, reason, detail }) => `${cluster} ${reason}: ${detail}`);

const participants = (definition: fc.Arbitrary<Definition> = arbitrary.definition) =>
  fc.uniqueArray(
    fc.record({
      cluster: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
      createdAt: fc.constantFrom(0, 1, Infinity),
      definition,
    }),
    {
      selector: ({ cluster }) => cluster,
      minLength: 1,
    },
  );

describe('mergeDefinitions', () => {
  it.each([
    { name: 'has no conflicts if all agree', given: clusters({}, {}), want: web, conflicts: [] },
    {
      name: 'is not headless if the oldest is not',
      given: clusters({ headless: true }, {}),
      want: { ...web, headless: true },
      conflicts: ['c2 headless-conflict: its Service is not headless, unlike c1'],
    },
    {
      name: 'is headless if the oldest is',
      given: clusters({}, { headless: true }),
      want: web,
      conflicts: ['c2 headless-conflict: its Service is headless, unlike c1'],
    },
    {
      name: 'has the session affinity of the oldest',
      given: clusters({ affinitySeconds: 60 }, { affinitySeconds: 61 }, { affinitySeconds: 60 }),
      want: { ...web, affinitySeconds: 60 },
      conflicts: ['c2 affinity-conflict: the session affinity of its Service differs from c1'],
    },
    {
      name: 'publishes unready addresses like the oldest',
      given: clusters({}, { publishNotReadyAddresses: true }),
      want: web,
      conflicts: ['c2 unready-conflict: publishNotReadyAddresses of its Service differs from c1'],
    },
    {
      name: 'has all families, the oldest Service first',
      given: clusters({ families: ['IPv6'] }, { families: ['IPv4', 'IPv6'] }),
      want: { ...web, families: ['IPv6', 'IPv4'] },
      conflicts: [],
    },
    {
      name: 'goes by age before names',
      given: clusters({ createdAt: 2, affinitySeconds: 1 }, { createdAt: 1, affinitySeconds: 2 }),
      want: { ...web, affinitySeconds: 2 },
      conflicts: ['c1 affinity-conflict: the session affinity of its Service differs from c2'],
    },
    {
      name: 'goes by names if ages are unknown',
      given: clusters(
        { createdAt: Infinity, affinitySeconds: 1 },
        { createdAt: Infinity, affinitySeconds: 2 },
      ).toReversed(),
      want: { ...web, affinitySeconds: 1 },
      conflicts: ['c2 affinity-conflict: the session affinity of its Service differs from c1'],
    },
    {
      name: 'has the ports of all, with the names of the oldest',
      given: clusters(
        {},
        {
          ports: [
            { ...http, name: 'web' },
            { ...http, name: 'admin', port: 81 },
          ],
        },
      ),
      want: { ...web, ports: [http, { ...http, name: 'admin', port: 81 }] },
      conflicts: ['c2 port-conflict: its port "web" (TCP 80) has the name "http", as in c1'],
    },
    {
      name: 'has ports if the oldest, which is headless, has none',
      given: clusters({ headless: true, ports: [] }, { headless: true }),
      want: { ...web, headless: true },
      conflicts: [],
    },
  ])('$name', ({ given, want, conflicts }) => {
    const merged = mergeDefinitions(given);
    expect(merged.definition).toEqual(want);
    expect(conflictsOf(merged)).toEqual(conflicts);
  });

  it('refuses no participants', () => {
    expect(() => mergeDefinitions([])).toThrow(RangeError);
  });

  it('makes a Service that the API server accepts', () => {
    fc.assert(
      fc.property(participants(), (given) => {
        const { families, ports } = mergeDefinitions(given).definition;
        const isUnique = (texts: readonly string[]) => new Set(texts).size === texts.length;
        expect(isUnique(families)).toBe(true);
        expect(isUnique(ports.map(({ name }) => name))).toBe(true);
        expect(isUnique(ports.map(({ protocol, port }) => `${protocol} ${port}`))).toBe(true);
        expect(ports.length === 1 || ports.every(({ name }) => name !== '')).toBe(true);
        expect(ports.length).toBeGreaterThan(0);
      }),
    );
  });

  it('names each port after the one with its number, and no two the same', () => {
    fc.assert(
      fc.property(participants(), (given) => {
        const { definition, portNames } = mergeDefinitions(given);
        for (const { cluster, definition: own } of given) {
          const names = portNames.get(cluster)!;
          expect([...names.keys()].toSorted()).toEqual(own.ports.map(({ name }) => name).toSorted());
          const merged = [...names.values()].filter((name) => name !== undefined);
          expect(new Set(merged).size).toBe(merged.length);
          for (const { name, protocol, port } of own.ports) {
            expect(names.get(name)).toBe(
              definition.ports.find((other) => other.protocol === protocol && other.port === port)?.name,
            );
          }
        }
      }),
    );
  });

  it('names exactly the clusters that are overruled', () => {
    fc.assert(
      fc.property(participants(), (given) => {
        const { definition, conflicts } = mergeDefinitions(given);
        const facts = ({ name, protocol, port, appProtocol = '' }: ServicePort) =>
          [name, protocol, port, appProtocol].join();
        const asSaid = ({ definition: own }: Participant) =>
          own.headless === definition.headless &&
          own.affinitySeconds === definition.affinitySeconds &&
          own.publishNotReadyAddresses === definition.publishNotReadyAddresses &&
          own.ports.every((port) => definition.ports.some((merged) => facts(merged) === facts(port)));
        const overruled = given.filter((each) => !asSaid(each)).map(({ cluster }) => cluster);
        expect([...new Set(conflicts.map(({ cluster }) => cluster))].toSorted()).toEqual(overruled.toSorted());
      }),
    );
  });

  it('does not depend on order', () => {
    const orders = participants().chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
    );
    fc.assert(
      fc.property(orders, ([one, other]) => {
        expect(mergeDefinitions(one)).toEqual(mergeDefinitions(other));
      }),
    );
  });

  it('leaves a single definition as it is', () => {
    fc.assert(
      fc.property(arbitrary.definition, (definition) => {
        const { portNames, ...merged } = mergeDefinitions([{ cluster: 'c2', createdAt: 0, definition }]);
        expect(merged).toEqual({ definition, conflicts: [] });
        expect(portNames).toEqual(new Map([['c2', new Map(definition.ports.map(({ name }) => [name, name]))]]));
      }),
    );
  });
});

describe('retainDefinition', () => {
  it('reports what a cluster loses', () => {
    const merged = retainDefinition(
      web,
      clusters({
        headless: true,
        ports: [
          { ...http, name: 'web' },
          { ...http, name: 'admin', port: 81 },
        ],
      }),
    );
    expect(conflictsOf(merged)).toEqual([
      'c1 headless-conflict: its Service is headless, unlike the existing Service',
      'c1 port-conflict: its port "web" (TCP 80) has the name "http", as in the existing Service',
      'c1 port-waits: its port "admin" (TCP 81) is skipped while a cluster of the Service is unknown',
    ]);
    expect(merged.portNames).toEqual(
      new Map([
        [
          'c1',
          new Map([
            ['web', 'http'],
            ['admin', undefined],
          ]),
        ],
      ]),
    );
  });

  it('changes nothing, and reports the same conflicts as the merge', () => {
    fc.assert(
      fc.property(arbitrary.definition, participants(), (definition, given) => {
        expect(retainDefinition(definition, given).definition).toBe(definition);
        const merged = mergeDefinitions(given);
        const kept = retainDefinition(merged.definition, given);
        expect(kept.portNames).toEqual(merged.portNames);
        expect(kept.conflicts.map(({ cluster, reason }) => [cluster, reason])).toEqual(
          merged.conflicts.map(({ cluster, reason }) => [cluster, reason]),
        );
      }),
    );
  });
});
