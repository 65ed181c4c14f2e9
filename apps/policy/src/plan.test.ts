import { networkPolicyKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import {
  type Companion,
  type CompanionChange,
  type ObservedCompanion,
  writtenCompanion,
} from '@kube-semaphore/network-policies';
import { exitCodeOf, type Plan, planJson, planText, type RemotePlan } from './plan.ts';

const set = (name: string, labels: Record<string, string>, ...nets: string[]) => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  labels,
  annotations: {},
  nets,
});

const c2: RemotePlan = {
  cluster: 'c2',
  reached: true,
  failure: undefined,
  heldBack: undefined,
  heldDeletions: 0,
  skipped: [],
  sets: ['c2-ns-a'],
  companions: 0,
};

const nothing = { refused: [], unknown: { count: 0, reasons: [] } };
const empty = { changes: [], companionChanges: [], refusals: nothing, openRules: [], skipped: [] } as const;

const full: Plan = {
  changes: [
    { kind: 'create', to: { name: 'c2-ns-new', labels: {}, nets: ['10.0.0.1/32', 'fd00::1/128'] } },
    {
      kind: 'update',
      from: set('c2-ns-a', { x: '1', y: '2' }, '10.0.0.1/32', '10.0.0.2/32'),
      to: set('c2-ns-a', { y: '2', x: '1' }, '10.0.0.2/32', '10.0.0.3/32'),
    },
    { kind: 'update', from: set('c2-ns-b', { x: '1' }, '10.0.0.1/32'), to: set('c2-ns-b', { x: '2' }, '10.0.0.1/32') },
    { kind: 'update', from: set('c2-ns-c', {}, '10.0.0.1/32', '10.0.0.1/32'), to: set('c2-ns-c', {}, '10.0.0.1/32') },
    { kind: 'delete', from: set('c2-ns-old', {}, '10.0.0.9/32') },
  ],
  companionChanges: [],
  refusals: { refused: [{ object: 'GlobalNetworkSet c2-ns-new', words: 'denied: "no"' }], unknown: nothing.unknown },
  openRules: [],
  skipped: [],
  remotes: [
    {
      ...c2,
      heldDeletions: 12,
      skipped: [
        { subject: 'pod ns/bad', kind: 'problem', reason: 'bad-address', detail: '"x" is no address' },
        {
          subject: 'pod ns/host',
          kind: 'expected',
          reason: 'host-network',
          detail: 'the Pod uses the network of its node',
        },
      ],
    },
    { ...c2, cluster: 'c3', reached: false, failure: 'list pods: connection refused', sets: ['c3-ns-a', 'c3-ns-b'] },
    { ...c2, cluster: 'c4', heldBack: 'no Pod matches' },
    { ...c2, cluster: 'c5', reached: false, sets: [] },
  ],
};

/** A companion as it is written, and as it is read. */
function companion(name: string, ...cidrs: string[]) {
  const rules = [{ text: 'p', ports: [], cidrs }];
  const wanted: Companion = { name, remote: 'c2', direction: 'ingress', rules };
  const podSelector = { matchLabels: {}, matchExpressions: [] };
  const to = writtenCompanion({ namespace: 'alpha', name: 'db', uid: 'u', generation: 1, podSelector }, wanted);
  const resource = networkPolicyKind;
  const object = { metadata: to.metadata, spec: to.spec } as unknown as ObservedCompanion['object'];
  return {
    companion: wanted,
    to,
    from: { ...wanted, shard: 0, source: 'db', object, resource, part: 'whole' } as const,
    resource,
  };
}

const one = companion('a', '10.4.0.1/32');
const two = companion('a', '10.4.0.1/32', '10.4.0.2/32');
const companionChanges: readonly CompanionChange[] = [
  { kind: 'create', ...companion('new', '10.4.0.1/32', '10.4.0.2/32') },
  { kind: 'update', ...two, from: one.from },
  { kind: 'update', ...one },
  { kind: 'delete', from: one.from },
];

describe('planText', () => {
  it('shows what would change, what is skipped and why, and what is unknown', () => {
    expect(planText(full)).toBe(
      [
        'create  c2-ns-new  10.0.0.1/32 fd00::1/128',
        'change  c2-ns-a  +10.0.0.3/32 -10.0.0.1/32',
        'change  c2-ns-b  labels',
        'change  c2-ns-c  spelling',
        'delete  c2-ns-old  10.0.0.9/32',
        '',
        String.raw`refuse! GlobalNetworkSet c2-ns-new: "denied: \"no\""`,
        '',
        'c2: 1 set now',
        'held    12 addresses that its list is missing, until the next list',
        'skip!   pod ns/bad: "x" is no address',
        'skip    pod ns/host: the Pod uses the network of its node',
        '',
        'c3: not reached: list pods: connection refused',
        'Its sets stay as they are:',
        'unknown  c3-ns-a',
        'unknown  c3-ns-b',
        '',
        'c4: 1 set now; nothing changes: no Pod matches',
        '',
        'c5: not reached: no answer',
        '',
      ].join('\n'),
    );
  });

  it('shows companions beside sets', () => {
    const text = planText({ ...empty, companionChanges, remotes: [{ ...c2, companions: 2 }] });
    expect(text).toBe(
      [
        'create  NetworkPolicy alpha/new  10.4.0.1/32 10.4.0.2/32',
        'change  NetworkPolicy alpha/a  +10.4.0.2/32',
        'change  NetworkPolicy alpha/a  other fields',
        'delete  NetworkPolicy alpha/a  10.4.0.1/32',
        '',
        'c2: 1 set and 2 companions now',
        '',
      ].join('\n'),
    );
    expect(planJson({ ...empty, companionChanges, remotes: [] })).toMatchObject({
      networkPolicies: [
        {
          change: 'create',
          kind: 'NetworkPolicy',
          name: 'alpha/new',
          cluster: 'c2',
          addresses: ['10.4.0.1/32', '10.4.0.2/32'],
        },
        { change: 'update', added: ['10.4.0.2/32'], removed: [] },
        { change: 'update', added: [], removed: [] },
        { change: 'delete', name: 'alpha/a', removed: ['10.4.0.1/32'] },
      ],
    });
  });

  it('reports that nothing would change', () => {
    expect(planText({ ...empty, remotes: [c2] })).toBe('Nothing to change.\n\nc2: 1 set now\n');
  });

  it('does not report that for a remote that was not reached', () => {
    const text = planText({
      ...empty,
      remotes: [{ ...c2, reached: false, failure: 'list pods: 403: \u001b[2J' }],
    });
    expect(text).toBe(
      [
        'Changes are unknown: c2 not reached.',
        '',
        'c2: not reached: list pods: 403: \\u001b[2J',
        'Its sets stay as they are:',
        'unknown  c2-ns-a',
        '',
      ].join('\n'),
    );
  });
});

it('shows what is open or skipped of the local cluster', () => {
  const skipped = [
    { subject: 'NetworkPolicy alpha/db', kind: 'problem', reason: 'x', detail: 'it is \u001b' },
  ] as const;
  const openRules = [
    { networkPolicy: 'alpha/db', direction: 'egress', ports: '53/UDP', isOpen: true, isOpenHere: true },
  ] as const;
  const plan = { ...empty, openRules, skipped, remotes: [c2] };
  expect(planText(plan)).toBe(
    [
      'Nothing to change.',
      '',
      'the local cluster:',
      'open    alpha/db: egress on 53/UDP to every remote that is added later',
      'open    alpha/db: egress on 53/UDP to local namespaces, too, with or without the label',
      'skip!   NetworkPolicy alpha/db: it is \\u001b',
      '',
      'c2: 1 set now',
      '',
    ].join('\n'),
  );
  expect(planJson(plan)).toMatchObject({ openRules, skipped });
});

it('prints the same facts as JSON', () => {
  const plan = planJson(full);
  expect(plan.changes[1]).toEqual({
    change: 'update',
    name: 'c2-ns-a',
    labels: { x: '1', y: '2' },
    nets: ['10.0.0.2/32', '10.0.0.3/32'],
    added: ['10.0.0.3/32'],
    removed: ['10.0.0.1/32'],
  });
  expect(plan.changes.map((change) => (change as { change: string }).change)).toEqual([
    'create',
    'update',
    'update',
    'update',
    'delete',
  ]);
  expect(plan.remotes).toEqual(JSON.parse(JSON.stringify(full.remotes)));
});

it('exits with 1 if a remote was not reached', () => {
  expect(exitCodeOf(full)).toBe(1);
  expect(exitCodeOf({ ...empty, remotes: [c2] })).toBe(0);
});
