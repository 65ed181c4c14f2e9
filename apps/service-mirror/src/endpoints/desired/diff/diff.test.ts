import { hash10 } from '@kube-semaphore/naming';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as arbitrary from '../../../../test/arbitraries.ts';
import type { DesiredObjects, DesiredService } from '../objects.ts';
import { desiredMirror } from '../../../services/desired/mirrors/mirror.ts';
import { diffService } from './service.ts';
import { diffSlices } from './slices.ts';
import { familySpec } from '../families.ts';
import type { ObservedService, ObservedSlice } from '../observed.ts';
import type { Family } from '../source.ts';

const where = { namespace: 'shop', service: 'web', name: 'web' };
const source = fc.record({
  cluster: fc.constantFrom('c2', 'c3'),
  prefix: fc.constant('c2'),
  service: arbitrary.service(where),
  slices: fc.uniqueArray(arbitrary.slice(where), { selector: ({ name }) => name }),
});

/** What the API server has after a write, on a dual-stack cluster. */
function written({ name, labels, annotations, definition }: DesiredService, before?: ObservedService): ObservedService {
  const { ipFamilyPolicy, ipFamilies } = familySpec(definition.families, before?.definition.families);
  const second: Family = ipFamilies[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  const families = ipFamilyPolicy === 'SingleStack' ? ipFamilies : [ipFamilies[0]!, second];
  const ports = definition.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port }));
  return {
    name,
    uid: 'u',
    resourceVersion: '1',
    createdAt: 0,
    labels,
    annotations,
    familyPolicy: ipFamilyPolicy,
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
    definition: { ...definition, families, ports },
  };
}

const owner = { name: 'c2-shop-73736d-web', uid: 'u' };
const writtenSlices = ({ slices }: DesiredObjects): ObservedSlice[] =>
  slices.map((slice) => ({ ...slice, uid: slice.name, resourceVersion: '1', owners: [owner.uid] }));

describe('diffService', () => {
  it('is empty for written objects', () => {
    fc.assert(
      fc.property(source, (from) => {
        const { service } = desiredMirror(from);
        expect(diffService(written(service), service)).toBeUndefined();
      }),
    );
  });

  it('comes to rest after one update of any Service', () => {
    fc.assert(
      fc.property(source, source, (one, other) => {
        const before = written(desiredMirror(one).service);
        const { service } = desiredMirror(other);
        const change = diffService(before, service);
        const isFlip = before.definition.headless !== service.definition.headless;
        expect(change?.kind === 'replace-service').toBe(isFlip);
        const after = change?.kind === 'update-service' ? written(service, before) : isFlip ? written(service) : before;
        expect(diffService(after, service)).toBeUndefined();
        // The primary family is immutable.
        expect(isFlip || after.definition.families[0] === before.definition.families[0]).toBe(true);
      }),
    );
  });

  const service: DesiredService = {
    name: 'c2-shop-73736d-web',
    labels: { 'mirrored-svc': 'true' },
    annotations: { 'mirror-svc-source': 'c2/shop/web' },
    definition: {
      headless: false,
      families: ['IPv4'],
      ports: [],
      affinitySeconds: undefined,
      publishNotReadyAddresses: false,
    },
  };

  const withFamilies = (families: readonly Family[], unusedFamilies?: readonly Family[]): DesiredService => ({
    ...service,
    definition: { ...service.definition, families, ...(unusedFamilies && { unusedFamilies }) },
  });

  it.each([
    { name: 'creates what is missing', from: undefined, to: service, want: 'create-service' },
    { name: 'deletes what is not desired', from: written(service), to: undefined, want: 'delete-service' },
    { name: 'does nothing without objects', from: undefined, to: undefined, want: undefined },
    {
      name: 'replaces a Service whose first family is not used any more',
      from: written(withFamilies(['IPv4', 'IPv6'])),
      to: withFamilies(['IPv6'], ['IPv4']),
      want: 'replace-service',
    },
    {
      name: 'keeps one whose first family another cluster has',
      from: written(withFamilies(['IPv4', 'IPv6'])),
      to: withFamilies(['IPv6', 'IPv4'], ['IPv4']),
      want: undefined,
    },
    { name: 'restores a label', from: { ...written(service), labels: {} }, to: service, want: 'update-service' },
    {
      name: 'removes a selector',
      from: { ...written(service), isPlain: false },
      to: service,
      want: 'update-service',
    },
    {
      name: 'removes an annotation of ours that is not desired',
      from: { ...written(service), annotations: { ...service.annotations, 'global-svc-conflicts': 'c3' } },
      to: service,
      want: 'update-service',
    },
    {
      name: 'leaves labels and annotations of others',
      from: {
        ...written(service),
        labels: { ...service.labels, team: 'x' },
        annotations: { ...service.annotations, note: 'y' },
      },
      to: service,
      want: undefined,
    },
  ])('$name', ({ from, to, want }) => {
    expect(diffService(from, to)?.kind).toBe(want);
  });
});

describe('diffSlices', () => {
  it('is empty for written objects', () => {
    fc.assert(
      fc.property(source, (from) => {
        const desired = desiredMirror(from);
        expect(diffSlices(writtenSlices(desired), desired.slices, owner)).toEqual({ writes: [], deletes: [] });
      }),
    );
  });

  it('writes only slices that differ, and deletes only undesired ones', () => {
    fc.assert(
      fc.property(source, source, (one, other) => {
        const [before, after] = [desiredMirror(one), desiredMirror(other)];
        const { writes, deletes } = diffSlices(writtenSlices(before), after.slices, owner);
        const touched = [
          ...writes.map((change) => ('to' in change ? change.to.name : '')),
          ...deletes.map((change) => ('from' in change ? change.from.name : '')),
        ];
        expect(new Set(touched).size).toBe(touched.length);
        for (const change of deletes) {
          const wanted = after.slices.find(({ name }) => 'from' in change && name === change.from.name);
          // A family is immutable: such a slice is deleted first.
          expect(wanted === undefined || ('from' in change && wanted.family !== change.from.family)).toBe(true);
        }
      }),
    );
  });

  it.each([{ owners: [] }, { owners: ['another'] }, { owners: ['u', 'another'] }])(
    'updates slices whose only owner is not their Service: $owners',
    ({ owners }) => {
      const desired = desiredMirror({
        cluster: 'c2',
        prefix: 'c2',
        service: {
          uid: 'x',
          namespace: 'shop',
          name: 'web',
          createdAt: 0,
          hasSelector: true,
          localFirst: false,
          definition: {
            headless: false,
            families: ['IPv4'],
            ports: [],
            affinitySeconds: undefined,
            publishNotReadyAddresses: false,
          },
        },
        slices: [
          { uid: 'y', namespace: 'shop', name: 'web-a', service: 'web', family: 'IPv4', ports: [], endpoints: [] },
        ],
      });
      const orphans = writtenSlices(desired).map((slice) => ({ ...slice, owners }));
      expect(diffSlices(orphans, desired.slices, owner).writes.map(({ kind }) => kind)).toEqual(['update-slice']);
    },
  );
});

describe('desiredMirror', () => {
  it('makes one slice of each, under unique names', () => {
    fc.assert(
      fc.property(source, (from) => {
        const { slices } = desiredMirror(from);
        expect(slices).toHaveLength(from.slices.length);
        expect(new Set(slices.map(({ name }) => name)).size).toBe(slices.length);
      }),
    );
  });

  it('distinguishes slices whose names share ten digits of a hash', () => {
    const where10 = { namespace: 'shop', service: 'web', family: 'IPv4', ports: [], endpoints: [], uid: 'y' } as const;
    const service10 = {
      uid: 'x',
      namespace: 'shop',
      name: 'web',
      createdAt: 0,
      hasSelector: true,
      localFirst: false,
      definition: {
        headless: false,
        families: ['IPv4'],
        ports: [],
        affinitySeconds: undefined,
        publishNotReadyAddresses: false,
      },
    } as const;
    const slices = ['web-0dntf', 'web-0fa57'].map((name) => ({ ...where10, name }));
    expect(new Set(slices.map(({ name }) => hash10('c2', 'shop', name))).size).toBe(1);
    const desired = desiredMirror({ cluster: 'c2', prefix: 'c2', service: service10, slices });
    expect(new Set(desired.slices.map(({ name }) => name)).size).toBe(2);
  });

  it('does not depend on order', () => {
    fc.assert(
      fc.property(source, (from) => {
        expect(desiredMirror({ ...from, slices: from.slices.toReversed() })).toEqual(desiredMirror(from));
      }),
    );
  });
});
