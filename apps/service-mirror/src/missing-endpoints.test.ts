import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { parseIp } from '@kube-semaphore/net';
import { printable } from '@kube-semaphore/text';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hostileService, hostileSlice } from '../test/support/hostile-sources.ts';
import {
  LOCAL,
  type Planned,
  type PlannedCluster,
  planOf,
  type PlannedWorld,
  type Skipped,
} from '../test/support/planned-world.ts';
import { addressesOf } from './endpoints/desired/compact.ts';
import { sourceAnnotation } from './names.ts';

/**
 * The rule: an object whose endpoints differ from its source's has a reason, and `plan` prints it. What a watch decides has no
 * place here: slices of a Service with a selector that lack its labels, which `without-selector.test.ts` has.
 */
const namespace = 'default';
/** The second one is too long for a mirror, and the third one for a global Service, too. */
const names = ['web', 's'.repeat(46), 's'.repeat(60)] as const;

/** Addresses that may not be used, beside those of the hostile sources. */
const odd = {
  IPv4: ['10.2.0.1', '10.4.8.1', '10.4.7.1', '239.1.2.3', '010.4.0.1', 'x'],
  IPv6: ['fe80::1', 'fd09::1', '::ffff:10.4.0.1', 'x'],
  FQDN: ['web.example.com'],
} as const;

type Endpoint = { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } };
type Slice = KubeObject & {
  readonly metadata: { readonly name: string };
  readonly addressType: keyof typeof odd;
  readonly ports?: readonly { readonly port?: unknown }[] | null | undefined;
  readonly endpoints: readonly Endpoint[];
};

const oddSlice = (name: string): fc.Arbitrary<Slice> =>
  fc
    .record({
      slice: hostileSlice([name]) as fc.Arbitrary<Slice>,
      isPlain: fc.constantFrom(true, true, true, false),
      isFqdn: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
      isNamed: fc.integer({ max: 9, min: 0 }).map((n) => n > 0),
      replaced: fc.array(fc.option(fc.nat()), { maxLength: 3 }),
    })
    .map(({ slice, isPlain, isFqdn, isNamed, replaced }): Slice => {
      const addressType = isFqdn ? 'FQDN' : slice.addressType;
      const endpoints = slice.endpoints.map((endpoint, i) => {
        const at = replaced[i];
        const others = odd[addressType];
        const addresses = at == null && !isFqdn ? endpoint.addresses : [others[(at ?? 0) % others.length]!];
        return { ...endpoint, addresses };
      });
      const metadata = { ...slice.metadata, name: isNamed ? slice.metadata.name : 'Not_A_Name' };
      const ports = isPlain ? [{ name: 'http', protocol: 'TCP', port: 8_080 }] : slice['ports'];
      return { ...slice, metadata, addressType, endpoints, ports };
    });

const usual = { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] };

const oddService = (name: string): fc.Arbitrary<KubeObject> =>
  fc
    .record({
      service: hostileService(name),
      more: fc.constantFrom(usual, usual, usual, {}, {}, { type: 'ExternalName' }, { ports: [] }),
    })
    .map(({ service, more }) => ({ ...service, spec: { ...(service['spec'] as object), ...more } }));

const cluster = (name: string, { isRemote }: { readonly isRemote: boolean }): fc.Arbitrary<PlannedCluster> =>
  fc
    .record({
      service: fc.option(oddService(name), { nil: undefined, freq: 5 }),
      slices: fc.uniqueArray(oddSlice(name), { selector: ({ metadata }) => metadata.name, maxLength: 3 }),
      holds: fc.boolean(),
      isKnown: fc.constantFrom(true, true, true, true, false),
      stale: isRemote ? fc.constantFrom('no', 'no', 'unready', 'remove') : fc.constant('no' as const),
    })
    .map(({ holds, slices, ...parts }) => ({
      ...parts,
      slices,
      held: new Set(holds ? slices.slice(0, 1).map(({ metadata }) => metadata.name) : []),
    }));

const world: fc.Arbitrary<PlannedWorld> = fc
  .record({ name: fc.constantFrom('web', 'web', 'web', ...names), twin: fc.boolean() })
  .chain(({ name, twin }) =>
    fc.record({
      namespace: fc.constant(namespace),
      name: fc.constant(name),
      clusters: fc
        .tuple(cluster(name, { isRemote: false }), cluster(name, { isRemote: true }), cluster(name, { isRemote: true }))
        .map(([c1, c2, c3]) => new Map(Object.entries({ c1, c2, c3 }))),
      prefixes: fc.constant(new Map(Object.entries({ c2: 'c2', c3: twin ? 'c2' : 'c3' }))),
      families: fc.constantFrom(undefined, ['IPv4'], ['IPv6'], ['IPv4', 'IPv6']),
      limit: fc.constantFrom(100, 100, 100, 0),
      present: fc.constantFrom('nothing', 'nothing', 'nothing', 'foreign', 'global', 'once', 'terminating'),
      sync: fc.boolean(),
      mcs: fc.record({
        isAllowed: fc.constantFrom(true, true, false),
        hasNamespace: fc.constantFrom(true, true, false),
      }),
    }),
  );

/** One address of an endpoint, whether clients may use it, and whether a port of its slice has no number. */
type Address = {
  readonly cluster: string;
  readonly slice: string;
  readonly raw: string;
  readonly isReady: boolean;
  readonly isUnnumbered: boolean;
};

/** All addresses of Services that are known. Of an endpoint of a held slice, none if a listed slice has one of them. */
const addressesIn = ({ clusters }: PlannedWorld): readonly Address[] =>
  [...clusters].flatMap(([at, { service, slices, isKnown, held }]) => {
    if (service === undefined || !isKnown) return [];
    const all = (slices as readonly Slice[]).flatMap(({ metadata: { name }, ports, endpoints }) =>
      endpoints.map(({ addresses, conditions }) => ({
        name,
        addresses,
        isReady: conditions?.ready !== false,
        isUnnumbered: (ports ?? []).some(({ port }) => port === undefined),
      })),
    );
    const listed = new Set(all.flatMap(({ name, addresses }) => (held.has(name) ? [] : addresses)));
    return all
      .filter(({ name, addresses }) => !held.has(name) || !addresses.some((address) => listed.has(address)))
      .flatMap(({ name, addresses, ...rest }) => addresses.map((raw) => ({ cluster: at, slice: name, raw, ...rest })));
  });

type Kind = keyof Planned['slices'];

/** Whether a slice of the plan is a copy with the address, and as ready as in its source. */
function isPlanned({ slices }: Planned, kind: Kind, { cluster: at, slice, raw, isReady }: Address): boolean {
  const ip = parseIp(raw);
  return slices[kind]
    .filter(({ annotations }) => annotations[sourceAnnotation] === `${at}/${namespace}/${slice}`)
    .flatMap(({ endpoints }) => endpoints)
    .some(
      (endpoint) =>
        ip.ok && addressesOf(endpoint).includes(ip.value) && (endpoint.conditions.ready !== false) === isReady,
    );
}

const OF_ADDRESS = ['bad-address', 'address-not-allowed'];
const OF_SLICE = ['bad-name', 'host-names', 'bad-family', 'too-large', 'bad-port', 'slice-portless', 'name-taken'];
const OF_SERVICE = [
  'external-name',
  'bad-name',
  'bad-family',
  'bad-port',
  'too-large',
  'port-name-too-long',
  'family-not-supported',
  'name-too-long',
  'name-illegal',
  'name-taken',
  'over-budget',
  'export-skipped',
  'namespace-not-allowed',
  'namespace-missing',
];

type Missing = { readonly kind: Kind; readonly key: string; readonly address: Address; readonly service: string };

/** What in a plan says why an address is missing. A reason of a Service doesn't explain what its other slices lack. */
function reasonsOf(planned: Planned, { kind, key, address, service }: Missing): readonly Skipped[] {
  const slice = `${namespace}/${address.slice}`;
  const ip = parseIp(address.raw);
  const isWhole = !planned.slices[kind].some(({ annotations }) =>
    annotations[sourceAnnotation]?.startsWith(`${address.cluster}/`),
  );
  return planned.skipped.filter(({ cluster: at, subject, reason, detail }) => {
    // Of a key as a whole, they are the local cluster's.
    if (at !== address.cluster && !(at === LOCAL && subject === key)) return false;
    // The lines of mirrors aren't there without their label, which an export doesn't need.
    if (kind === 'import' && subject !== key) return false;
    if (subject === `slice ${slice}` || (subject === key && detail.includes(slice))) {
      if (OF_ADDRESS.includes(reason)) return detail.includes(ip.ok ? ip.value : address.raw);
      // `1 of its 2 ports`
      return OF_SLICE.includes(reason) && !/\b(\d+) of its (?!\1 )/.test(detail);
    }
    if (subject !== key && subject !== `service ${service}`) return false;
    // A Service with an address that is to become headless can't have such a port yet.
    if (reason === 'terminating') return kind !== 'import' && address.isUnnumbered;
    return (reason === 'stale' && kind !== 'mirror') || (isWhole && OF_SERVICE.includes(reason));
  });
}

it('every endpoint of a source that a plan does not copy has a reason, which the plan prints', () => {
  let [copied, copiedWhileTerminating] = [0, 0];
  const reasons = new Set<string>();
  fc.assert(
    fc.property(world, (given) => {
      const planned = planOf(given);
      const service = `${namespace}/${given.name}`;
      for (const address of addressesIn(given)) {
        if (planned.dropped.has(`${address.cluster}/${address.slice}`)) continue;
        const keys: readonly (readonly [Kind, string])[] = [
          ...(address.cluster === LOCAL ? [] : [['mirror', `${address.cluster}/${service}`] as const]),
          ['global', `global/${service}`],
          ['import', `@import/${service}`],
        ];
        for (const [kind, key] of keys) {
          if (isPlanned(planned, kind, address)) {
            copied += 1;
            if (given.present === 'terminating') copiedWhileTerminating += 1;
            continue;
          }
          const found = reasonsOf(planned, { kind, key, address, service });
          expect(found, `${kind}: ${JSON.stringify(address)} has no reason in\n${planned.text}`).not.toEqual([]);
          for (const { reason, subject, detail } of found) {
            reasons.add(reason);
            expect(planned.text).toContain(`${printable(subject)}: ${printable(detail)}\n`);
          }
        }
      }
    }),
    { numRuns: 500 },
  );
  // Neither is everything skipped, nor nothing.
  expect(copied).toBeGreaterThan(500);
  expect(copiedWhileTerminating).toBeGreaterThan(50);
  expect([...reasons].toSorted()).toEqual(expect.arrayContaining([...OF_ADDRESS, 'name-taken', 'slice-portless']));
});

it('a local Service whose source is gone stays only with a reason, which the plan prints', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(world, fc.subarray(['c1', 'c2', 'c3']), (given, gone) => {
      const clusters = new Map(
        Array.from(given.clusters, ([at, of]) => [at, gone.includes(at) ? { ...of, service: undefined } : of]),
      );
      const planWith = (sync: boolean): Planned => planOf({ ...given, clusters, present: 'once', sync });
      const [retaining, synced] = [planWith(false), planWith(true)];
      const leftIn = ({ skipped }: Planned): readonly Skipped[] =>
        skipped.filter(({ reason }) => reason === 'left-behind');
      const left = leftIn(retaining);
      const names = [...synced.deleted].filter((name) => !retaining.deleted.has(name));
      // Each once, and no other one.
      const named = left.map(({ detail }) => / Service (\S+) stays/.exec(detail)?.[1] ?? detail);
      expect(named.toSorted()).toEqual(names.toSorted());
      expect(leftIn(synced)).toEqual([]);
      for (const { subject, detail } of left) {
        const [kind = ''] = subject.split('/');
        kinds.add(kind);
        expect(retaining.text).toContain(`${printable(subject)}: ${printable(detail)}\n`);
        const sources = kind === 'global' ? [...clusters.values()] : [clusters.get(kind)];
        expect(sources.every((source) => source?.isKnown)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
  expect([...kinds].toSorted()).toEqual(['c2', 'c3', 'global']);
});
