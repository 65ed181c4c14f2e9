import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignMarks } from '../../../test/arbitraries.ts';
import { exported } from '../../../test/mcs/arbitraries.ts';
import { importInput, importInputs, sliceOf } from '../../../test/mcs/inputs.ts';
import { changed } from '../../../test/mcs/observed.ts';
import { type ImportChange, importTaken, nextChanges, type ObservedObjects } from './changes.ts';
import type { Marks } from '../../endpoints/desired/diff/marks.ts';
import { parseClusterOrder } from '../../endpoints/desired/routing/order.ts';
import { importClusterLabel } from '../../names.ts';
import type { StringMap } from '../../endpoints/desired/objects.ts';
import { desiredImport, type ImportInput } from './import.ts';
import type { ImportObjects } from './objects.ts';

const AT = '2026-01-01T00:00:00Z';
const NOTHING: ObservedObjects = { serviceImport: undefined, service: undefined, slices: [] };

function wantedOf(input: ImportInput): ImportObjects {
  const { wanted } = desiredImport(input);
  if (typeof wanted === 'string') throw new Error(wanted);
  return wanted;
}

/**
 * The steps until nothing is left to change: the changes of each, and the objects after each single change.
 *
 * @param waits changes that can't be made
 */
function carriedOut(
  from: ObservedObjects,
  wanted: 'nothing' | ImportObjects,
  waits: (change: ImportChange) => boolean = () => false,
) {
  const steps: (readonly ImportChange[])[] = [];
  const states = [from];
  for (;;) {
    const changes = nextChanges(states.at(-1)!, wanted, AT, waits);
    if (changes.length === 0) return { steps, kinds: steps.map((step) => step.map(({ kind }) => kind)), states };
    if (steps.length === 20) throw new Error(`no end: ${changes.map(({ kind }) => kind).join()}`);
    steps.push(changes);
    for (const change of changes) states.push(changed(states.at(-1)!, change));
  }
}

const clusterIp = { ...exported('c1'), slices: [sliceOf('web-1')] };
const headless = { ...exported('c1', { definition: { headless: true } }), slices: [sliceOf('web-1')] };

const dualStack = exported('c2', { createdAt: 5, definition: { families: ['IPv4', 'IPv6'] } });

const after = (from: ObservedObjects, wanted: 'nothing' | ImportObjects) => carriedOut(from, wanted).states.at(-1)!;
const exportedNow = after(NOTHING, wantedOf(importInput([clusterIp])));
const headlessNow = after(NOTHING, wantedOf(importInput([headless])));

describe('nextChanges', () => {
  it.each([
    {
      what: 'a first export',
      from: NOTHING,
      to: () => wantedOf(importInput([clusterIp])),
      want: [['create-derived'], ['create-slice'], ['create-import'], ['update-import-status']],
    },
    {
      what: 'a first headless export',
      from: NOTHING,
      to: () => wantedOf(importInput([headless])),
      want: [['create-import'], ['create-slice'], ['update-import-status']],
    },
    {
      what: 'one more Pod',
      from: exportedNow,
      to: () => wantedOf(importInput([{ ...clusterIp, slices: [sliceOf('web-1', { endpoints: [] })] }])),
      want: [['update-slice']],
    },
    {
      what: 'a second cluster that exports the same',
      from: exportedNow,
      to: () => wantedOf(importInput([clusterIp, { ...exported('c2', { createdAt: 5 }), slices: [sliceOf('web-1')] }])),
      want: [['create-slice'], ['update-import-status']],
    },
    {
      what: 'a cluster that exports no more',
      from: after(exportedNow, wantedOf(importInput([clusterIp, { ...exported('c2'), slices: [sliceOf('web-1')] }]))),
      to: () => wantedOf(importInput([clusterIp])),
      want: [['update-import-status', 'delete-slice']],
    },
    {
      what: 'the end of the last export',
      from: exportedNow,
      to: () => 'nothing' as const,
      want: [['delete-import'], ['delete-slice', 'delete-derived']],
    },
    {
      what: 'an import that becomes headless',
      from: exportedNow,
      to: () => wantedOf(importInput([headless])),
      want: [['update-import'], ['update-slice'], ['delete-derived']],
    },
    {
      what: 'an import that gets an address',
      from: headlessNow,
      to: () => wantedOf(importInput([clusterIp])),
      want: [['create-derived'], ['update-slice'], ['update-import']],
    },
    {
      what: 'another internal traffic policy',
      from: exportedNow,
      to: () =>
        wantedOf(
          importInput([
            { ...exported('c1', { definition: { internalTrafficPolicy: 'Local' } }), slices: [sliceOf('web-1')] },
          ]),
        ),
      want: [['update-derived'], ['update-import']],
    },
    {
      what: 'a second family',
      from: exportedNow,
      to: () => wantedOf(importInput([clusterIp, dualStack])),
      want: [['update-derived'], ['update-import'], ['update-import-status']],
    },
    {
      what: 'the end of a second family',
      from: after(exportedNow, wantedOf(importInput([clusterIp, dualStack]))),
      to: () => wantedOf(importInput([clusterIp])),
      want: [['update-import'], ['update-derived'], ['update-import-status']],
    },
    {
      what: 'families that the cluster lacks',
      from: NOTHING,
      to: () => wantedOf(importInput([clusterIp], { families: ['IPv6'] })),
      want: [['create-import'], ['update-import-status']],
    },
  ])('are, for $what: $want', ({ from, to, want }) => {
    expect(carriedOut(from, to()).kinds).toEqual(want);
  });

  describe('while an object waits for its finalizers', () => {
    const moved = wantedOf(importInput([{ ...clusterIp, slices: [sliceOf('web-2')] }]));
    const ending = <T>(object: T | undefined): T => ({ ...object!, isTerminating: true });
    const withoutService = { ...exportedNow, service: ending(exportedNow.service) };
    const withoutImport = { ...exportedNow, serviceImport: ending(exportedNow.serviceImport) };
    const withoutHeadless = { ...headlessNow, serviceImport: ending(headlessNow.serviceImport) };

    it.each([
      {
        what: 'a Service, its slices follow, and release it',
        from: withoutService,
        to: moved,
        want: [['create-slice'], ['delete-slice']],
      },
      {
        what: 'a Service, its slices go at once with the last export',
        from: withoutService,
        to: 'nothing' as const,
        want: [['delete-import'], ['delete-slice']],
      },
      {
        what: 'a Service, the import can become headless',
        from: withoutService,
        to: wantedOf(importInput([headless])),
        want: [['update-import'], ['update-slice']],
      },
      {
        what: 'an import, slices of its Service follow',
        from: withoutImport,
        to: moved,
        want: [['create-slice'], ['delete-slice']],
      },
      {
        what: 'an import, its slices go at once with the last export, and its address stays its own',
        from: withoutImport,
        to: 'nothing' as const,
        want: [['delete-slice']],
      },
      {
        what: 'a headless import, its slices go at once with the last export',
        from: withoutHeadless,
        to: 'nothing' as const,
        want: [['delete-slice']],
      },
    ])('$what: $want', ({ from, to, want }) => {
      expect(carriedOut(from, to).kinds).toEqual(want);
    });

    it.each([
      { what: 'a Service', from: withoutService, to: wantedOf(importInput([clusterIp])) },
      { what: 'a headless import', from: withoutHeadless, to: wantedOf(importInput([headless])) },
    ])('slices lose $what as their owner, and the next one adopts them', ({ from, to }) => {
      const { kinds, states } = carriedOut(from, to);
      const released = states.at(-1)!;
      expect(kinds).toEqual([['update-slice']]);
      expect(released.slices.map(({ owners }) => owners)).toEqual([[]]);
      const gone =
        from === withoutService ? { ...released, service: undefined } : { ...released, serviceImport: undefined };
      const { slices, service, serviceImport } = after(gone, to);
      expect(slices.map(({ owners }) => owners)).toEqual([[(service ?? serviceImport)!.uid]]);
    });
  });

  it('let the first level of an order answer before others step back', () => {
    const wantedIn = (text: string) => {
      const order = parseClusterOrder(text);
      if (!order.ok) throw new Error(order.reason);
      const routing = { ...importInput([]).routing, order: order.value };
      const [endpoint] = sliceOf('web-1').endpoints;
      const clusters = ['c1', 'c2', 'c3'].map((name) => {
        const endpoints = [{ ...endpoint!, address: `${name}-0` }];
        return { ...exported(name), slices: [sliceOf('web-1', { endpoints })] };
      });
      return wantedOf(importInput(clusters, { routing }));
    };
    const { steps } = carriedOut(after(NOTHING, wantedIn('c1; c2; c3')), wantedIn('c2; c1; c3'));
    const written = steps.map((step) =>
      step.map((change) => (change.kind === 'update-slice' ? change.to.labels[importClusterLabel] : change.kind)),
    );
    expect(written).toEqual([['c2'], ['c1'], ['update-import']]);
  });

  it('replace a derived Service that someone made headless', () => {
    const { service } = exportedNow;
    const broken = { ...exportedNow, service: { ...service!, definition: { ...service!.definition, headless: true } } };
    expect(carriedOut(broken, wantedOf(importInput([clusterIp]))).kinds.slice(0, 2)).toEqual([
      ['delete-derived'],
      ['create-derived'],
    ]);
  });

  const targets = importInputs.map(wantedOf);

  it('come to the same end, whatever was there before, and then to rest', () => {
    fc.assert(
      fc.property(targets, targets, (a, b) => {
        const [from, fresh] = [after(after(NOTHING, a), b), after(NOTHING, b)];
        const names = ({ slices }: ObservedObjects) => slices.map(({ name }) => name).toSorted();
        // The primary family of a Service is immutable.
        expect(from.serviceImport?.spec.ports).toEqual(fresh.serviceImport?.spec.ports);
        expect(from.serviceImport?.spec.type).toEqual(fresh.serviceImport?.spec.type);
        expect(from.serviceImport?.clusters).toEqual(fresh.serviceImport?.clusters);
        expect(names(from)).toEqual(names(fresh));
        expect(from.service === undefined).toBe(fresh.service === undefined);
      }),
    );
  });

  it('keep labels and annotations of others, which cause no write, and take away those that no export has', () => {
    const without = (map: StringMap, taken: StringMap): StringMap =>
      Object.fromEntries(Object.entries(map).filter(([key]) => !Object.hasOwn(taken, key)));
    fc.assert(
      fc.property(targets, targets, foreignMarks, (a, b, foreign) => {
        // What an export overwrites goes with it.
        const labels = without(foreign.labels, a.serviceImport.labels);
        const annotations = without(foreign.annotations, a.serviceImport.annotations);
        const marked = <T extends Marks | undefined>(object: T): T =>
          object && {
            ...object,
            labels: { ...labels, ...object.labels },
            annotations: { ...annotations, ...object.annotations },
          };
        const { serviceImport, service, slices } = after(NOTHING, a);
        const before = { serviceImport: marked(serviceImport), service: marked(service), slices: slices.map(marked) };
        expect(nextChanges(before, a, AT)).toEqual([]);
        const now = after(before, b);
        const wanted = marked(after(NOTHING, b).serviceImport);
        expect(now.serviceImport).toMatchObject({ labels: wanted!.labels, annotations: wanted!.annotations });
        expect(Object.keys(now.serviceImport!.labels).toSorted()).toEqual(Object.keys(wanted!.labels).toSorted());
        expect(nextChanges(now, b, AT)).toEqual([]);
      }),
    );
  });

  it('leave nothing when the last export ends', () => {
    fc.assert(
      fc.property(targets, (wanted) => {
        expect(after(after(NOTHING, wanted), 'nothing')).toEqual(NOTHING);
      }),
    );
  });

  it('never show an address that no Service has', () => {
    fc.assert(
      fc.property(targets, fc.oneof(targets, fc.constant('nothing' as const)), (a, b) => {
        const first = carriedOut(NOTHING, a).states;
        for (const { serviceImport: shown, service } of [...first, ...carriedOut(first.at(-1)!, b).states]) {
          const ips = shown?.spec.ips ?? [];
          expect(ips.filter((ip) => service?.ips.includes(ip) !== true)).toEqual([]);
          expect(ips.length === 0 || ips.length === shown?.spec.families.length).toBe(true);
        }
      }),
    );
  });

  it('keep the address for as long as the import has one', () => {
    const second = { ...exported('c2', { createdAt: 0, definition: { families: ['IPv6'] } }), slices: [] };
    const { states } = carriedOut(exportedNow, wantedOf(importInput([clusterIp, second])));
    const [address] = exportedNow.serviceImport!.spec.ips;
    expect(states.map(({ serviceImport: shown }) => shown?.spec.ips[0])).toEqual(states.map(() => address));
  });
});

/** The cluster of a change of a slice. */
function clusterOf(change: ImportChange): string | undefined {
  const { labels = {} } = ('to' in change ? change.to : change.from) as { labels?: Readonly<Record<string, string>> };
  return labels['multicluster.kubernetes.io/source-cluster'];
}

describe('changes that wait', () => {
  const [c1, c2, c3] = ['c1', 'c2', 'c3'].map((cluster) => ({
    ...exported(cluster),
    slices: [sliceOf('web-1', { endpoints: [{ ...sliceOf('web-1').endpoints[0]!, address: `10.4.0.${cluster[1]}` }] })],
  }));
  const of = (...exports: (typeof c1)[]) => wantedOf(importInput(exports.map((each) => each!)));
  const isOf = (cluster: string) => (change: ImportChange) =>
    clusterOf(change) === cluster && change.kind !== 'delete-slice';

  it('of one cluster delay nothing of another', () => {
    const { kinds } = carriedOut(after(NOTHING, of(c1, c2)), of(c1, c3), isOf('c3'));
    expect(kinds).toEqual([['update-import-status', 'delete-slice']]);
  });

  it('delay deletions of the same cluster that would take away an address', () => {
    const both = {
      ...c2!,
      slices: [...c2!.slices, sliceOf('web-2', { endpoints: [{ ...sliceOf('').endpoints[0]!, address: '10.4.9.9' }] })],
    };
    const moved = { ...c2!, slices: [sliceOf('web-3', { endpoints: c2!.slices[0]!.endpoints })] };
    const { states } = carriedOut(after(NOTHING, of(c1, both)), of(c1, moved), isOf('c2'));
    const left = states.at(-1)!.slices.flatMap(({ endpoints }) => endpoints.map(({ address }) => address));
    expect(left.toSorted()).toEqual(['10.4.0.1', '10.4.0.2']);
  });

  it.each(['create-import', 'update-import', 'update-derived', 'update-import-status'] as const)(
    'with %s delay no endpoint, and no deletion',
    (kind) => {
      const present = after(NOTHING, of(c1, c2));
      const from = kind === 'create-import' ? { ...present, serviceImport: undefined } : present;
      const wanted = wantedOf(
        importInput([{ ...c1!, definition: { ...c1!.definition, internalTrafficPolicy: 'Local' } }, c3!]),
      );
      const { kinds, states } = carriedOut(from, wanted, (change) => change.kind === kind);
      const clusters = states.at(-1)!.slices.map(({ labels }) => labels['multicluster.kubernetes.io/source-cluster']);
      expect(new Set(clusters)).toEqual(new Set(['c1', 'c3']));
      expect(kinds.flat()).not.toContain(kind);
    },
  );

  it('keep a port that the Service has while it can not be updated', () => {
    const renamed = {
      ...c1!,
      definition: { ...c1!.definition, ports: [{ ...c1!.definition.ports[0]!, name: 'web' }] },
      slices: [{ ...c1!.slices[0]!, ports: [{ ...c1!.slices[0]!.ports[0]!, name: 'web' }] }],
    };
    const { states } = carriedOut(
      after(NOTHING, of(c1)),
      wantedOf(importInput([renamed])),
      (change) => change.kind === 'update-derived',
    );
    expect(states.at(-1)!.slices.map(({ ports }) => ports.map(({ name }) => name))).toEqual([['http']]);
  });

  it('never keep a slice of a cluster that exports no more', () => {
    const kinds = [
      'create-derived',
      'update-derived',
      'create-import',
      'update-import',
      'update-import-status',
      'create-slice',
      'update-slice',
    ];
    fc.assert(
      fc.property(importInputs, importInputs, fc.subarray(kinds), (a, b, waiting) => {
        const { states } = carriedOut(after(NOTHING, wantedOf(a)), wantedOf(b), ({ kind }) => waiting.includes(kind));
        const exporters = new Set(b.exporters.map(({ cluster }) => cluster));
        const others = states
          .at(-1)!
          .slices.filter(({ labels }) => !exporters.has(labels['multicluster.kubernetes.io/source-cluster']!));
        expect(others).toEqual([]);
      }),
    );
  });
});

describe('importTaken', () => {
  const at = { namespace: 'shop', name: 'web' };

  it('lets our own objects be changed, and missing ones be created', () => {
    expect([importTaken(at, exportedNow), importTaken(at, NOTHING)]).toEqual([undefined, undefined]);
  });

  it.each([
    {
      what: "an import that isn't ours",
      objects: { ...exportedNow, serviceImport: { ...exportedNow.serviceImport!, labels: {} } },
      detail: "the ServiceImport shop/web exists, and isn't ours",
    },
    {
      what: "a Service that isn't ours",
      objects: { ...exportedNow, service: { ...exportedNow.service!, labels: {} } },
      detail: "the Service derived-isrlchlhrq exists, and isn't that of this import",
    },
    {
      what: 'the Service of another import',
      objects: {
        ...exportedNow,
        service: {
          ...exportedNow.service!,
          labels: { ...exportedNow.service!.labels, 'multicluster.kubernetes.io/service-name': 'other' },
        },
      },
      detail: "the Service derived-isrlchlhrq exists, and isn't that of this import",
    },
  ])('refuses $what', ({ objects, detail }) => {
    expect(importTaken(at, objects)).toMatchObject({ reason: 'name-taken', detail });
  });
});
