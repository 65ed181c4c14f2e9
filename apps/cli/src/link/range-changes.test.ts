import { mustParseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import type { Cluster } from './findings/findings.ts';
import type { RangeField } from './files/config-files.ts';
import { rangeChanges, unconfirmed } from './range-changes.ts';

const allowed = (ranges: RangeField['ranges']): RangeField => ({
  file: 'policy.json',
  field: 'allowedPodCIDRs',
  remote: 'c2',
  ranges,
});

describe('what changes in a field', () => {
  it.each([
    { had: ['10.4.0.0/16'], has: ['10.4.0.0/16'], want: [] },
    {
      had: ['10.4.0.0/16'],
      has: ['10.4.0.0/16', '10.6.0.0/16'],
      want: [{ removed: [], added: ['10.6.0.0/16'], wider: ['10.6.0.0/16'] }],
    },
    {
      had: ['10.4.0.0/16'],
      has: ['10.4.0.0/15'],
      want: [{ removed: ['10.4.0.0/16'], added: ['10.4.0.0/15'], wider: ['10.4.0.0/15'] }],
    },
    {
      had: ['10.4.0.0/16', 'fd00:4::/48'],
      has: ['10.4.1.0/24', 'fd00:4::/48'],
      want: [{ removed: ['10.4.0.0/16'], added: ['10.4.1.0/24'], wider: [] }],
    },
    { had: undefined, has: ['10.4.0.0/16'], want: [{ removed: ['any'], added: ['10.4.0.0/16'], wider: [] }] },
    { had: undefined, has: undefined, want: [] },
  ])('from $had to $has', ({ had, has, want }) => {
    expect(rangeChanges([allowed(had)], [allowed(has)])).toEqual(
      want.map((each) => ({ file: 'policy.json', field: 'allowedPodCIDRs', remote: 'c2', ...each })),
    );
  });

  it('is nothing for a remote that is new', () => {
    expect(rangeChanges([], [allowed(['10.4.0.0/16'])])).toEqual([]);
  });
});

describe('what a remote has besides', () => {
  const cluster = (name: string, change: object = {}) =>
    ({ context: `kind-${name}`, name, podCidrs: [], nodeCidrs: [], ...change }) as unknown as Cluster;
  const podCidrs = ['10.4.0.0/16', '10.6.0.0/16'].map(mustParseCidr);
  const nodeCidrs = ['172.19.0.0/16'].map(mustParseCidr);
  const change = (field: RangeField['field'], ...wider: readonly string[]) => ({
    file: 'x.json',
    field,
    remote: 'c2',
    removed: [],
    added: wider,
    wider,
  });
  const { remote: _remote, ...own } = change('local.cidrs', '10.9.0.0/16');
  const changes = [
    change('allowedPodCIDRs', '10.6.0.0/16'),
    change('podSubnet', '10.6.0.0/16'),
    change('allowedEndpointCIDRs', '172.19.0.0/16'),
    own,
  ];
  const problems = (given: object) =>
    unconfirmed([
      { cluster: cluster('c1'), given: { name: undefined }, changes },
      { cluster: cluster('c2', { podCidrs, nodeCidrs }), given: { name: undefined, ...given }, changes: [] },
      { cluster: cluster('c3'), given: { name: undefined }, changes: changes.slice(0, 1) },
    ]);
  const nodes =
    'kind-c2: 172.19.0.0/16 for nodes is more than c1 let in so far: ' +
    'if that is right, set --node-cidr kind-c2=172.19.0.0/16';

  it('must be named by a flag of this run', () => {
    expect(problems({})).toEqual([
      'kind-c2: 10.6.0.0/16 for Pods is more than c1, c3 let in so far: ' +
        'if that is right, set --pod-cidr kind-c2=10.4.0.0/16 --pod-cidr kind-c2=10.6.0.0/16',
      nodes,
    ]);
    expect(problems({ podCidrs: false, nodeCidrs: ['172.19.0.0/16'] })).toHaveLength(1);
    expect(problems({ podCidrs: ['10.4.0.0/16', '10.6.0.0/16'] })).toEqual([nodes]);
  });
});
