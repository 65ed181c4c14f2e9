import { describe, expect, it } from 'vitest';
import type { Change } from './endpoints/desired/diff/change.ts';
import { exitCodeOf, type Plan, planJson, planText } from './plan.ts';

const service = {
  name: 'c2-shop-73736d-web',
  labels: {},
  annotations: {},
  definition: {
    headless: false,
    families: ['IPv4'],
    ports: [],
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  },
} as const;
const endpoint = {
  address: '10.4.0.1',
  otherAddresses: undefined,
  conditions: { ready: true, serving: undefined, terminating: undefined },
  hostname: undefined,
  nodeName: undefined,
  zone: undefined,
};
const slice = (zones: readonly string[] | undefined) => ({
  name: 'gl-a-1',
  labels: { 'kubernetes.io/service-name': 'gl-a' },
  annotations: {},
  family: 'IPv4' as const,
  ports: [],
  endpoints: [{ ...endpoint, zones }],
});
const owner = { name: 'gl-a', uid: 'u' };

const changes: readonly Change[] = [
  { kind: 'create-service', to: service },
  {
    kind: 'update-slice',
    from: { ...slice(['remote']), uid: 'u', resourceVersion: '1', owners: ['u'] },
    to: slice(undefined),
    owner,
  },
  {
    kind: 'delete-endpoints',
    from: { name: 'c2-shop-73736d-db', uid: 'u', resourceVersion: '1', labels: {}, addresses: [] },
  },
];
const reached = {
  cluster: 'c2',
  reached: true,
  failure: undefined,
  forbidden: false,
  heldDeletions: 0,
  unmatched: [],
  skipped: [],
  services: ['c2-shop-73736d-db'],
};
const nothing = {
  missingNamespace: undefined,
  changes: [],
  importChanges: [],
  refusals: { refused: [], unknown: { count: 0, reasons: [] } },
  remotes: [],
  exports: [],
  orphans: [],
};
const refused = [{ object: 'Service c2-shop-73736d-web', words: 'denied' }];
const plan: Plan = { ...nothing, changes, refusals: { ...nothing.refusals, refused }, remotes: [reached] };

describe('a plan', () => {
  it('shows people the changes, and Services whose traffic would go elsewhere', () => {
    expect(planText(plan)).toBe(
      [
        'create  Service c2-shop-73736d-web',
        'change  EndpointSlice gl-a-1  1 endpoint',
        'delete  Endpoints c2-shop-73736d-db',
        '',
        'route   gl-a: to the endpoints of all clusters',
        '',
        'refuse! Service c2-shop-73736d-web: "denied"',
        '',
        'c2: 1 service now',
        '',
      ].join('\n'),
    );
  });

  it('shows what is held, skipped and unknown', () => {
    const skipped = [
      { subject: 'service shop/web', kind: 'problem', reason: 'name-too-long', detail: 'it is 3 characters too long' },
    ] as const;
    const text = planText({
      ...nothing,
      missingNamespace: 'mirrors',
      remotes: [
        { ...reached, heldDeletions: 2, unmatched: ['mirror=true'], skipped },
        { ...reached, cluster: 'c3', reached: false, failure: 'list services: 401', skipped },
      ],
      orphans: [{ cluster: 'c9', objects: 2 }],
    });
    expect(text).toBe(
      [
        'missing Namespace mirrors: create it, or nothing can be written',
        '',
        'Changes are unknown: c3 not reached.',
        '',
        'c2: 1 service now',
        'empty   no Service matches mirror=true',
        'held    2 objects missing from its lists, until the next list',
        'skip!   service shop/web: it is 3 characters too long',
        '',
        'c3: not reached: list services: 401',
        'Its 1 service would stay:',
        'unknown c2-shop-73736d-db',
        'skip!   service shop/web: it is 3 characters too long',
        '',
        'c9: not in the config: 2 objects would stay; "cleanup -cluster c9" removes them',
        '',
      ].join('\n'),
    );
  });

  it('shows whose exports are unknown, and which imports stay', () => {
    const exports = [
      { cluster: 'c1', known: true, heldDeletions: 1, imports: ['shop/web'], skipped: [] },
      { cluster: 'c2', known: false, heldDeletions: 0, imports: ['shop/db', 'shop/web'], skipped: [] },
    ];
    const unknown = { ...nothing, exports };
    expect(planText(unknown).split('\n')).toEqual([
      "Changes are unknown: the exports of c2 aren't known.",
      '',
      'c1: its part in 1 import now',
      'held    1 object missing from its lists, until the next list',
      '',
      'c2: exports unknown: its part in 2 imports would stay',
      'unknown shop/db',
      'unknown shop/web',
      '',
    ]);
    expect(exitCodeOf(unknown)).toBe(1);
  });

  it('is complete without a local cluster that may not be listed', () => {
    const forbidden: Plan = {
      ...nothing,
      remotes: [reached, { ...reached, cluster: 'c1', reached: false, forbidden: true, services: [] }],
    };
    expect(planText(forbidden)).toContain(
      '\n\nc1: listing all namespaces is forbidden: no part in global services; its objects would stay\n',
    );
    expect(exitCodeOf(forbidden)).toBe(0);
    expect(exitCodeOf({ ...forbidden, remotes: [{ ...reached, reached: false }] })).toBe(1);
  });

  it('shows programs the same', () => {
    const json = planJson(plan);
    expect(json).toMatchObject({
      changes: [
        { change: 'create', kind: 'Service' },
        { change: 'change', kind: 'EndpointSlice' },
        { change: 'delete', kind: 'Endpoints' },
      ],
      routing: [{ service: 'gl-a', to: 'everywhere' }],
      remotes: [{ cluster: 'c2', reached: true }],
      orphans: [],
    });
  });

  it('exits with 1 if it is incomplete, or the mirror namespace is missing', () => {
    expect(exitCodeOf(plan)).toBe(0);
    expect(exitCodeOf({ ...plan, remotes: [reached, { ...reached, reached: false }] })).toBe(1);
    expect(exitCodeOf({ ...plan, missingNamespace: 'mirrors' })).toBe(1);
  });
});
