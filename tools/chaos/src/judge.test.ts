import { expect, it } from 'vitest';
import { secretsIn, untimelyWritesIn } from './judge.ts';
import type { Stage } from './perform.ts';
import { policy } from './subjects/policy.ts';
import type { World } from './world.ts';

/** What the audit log says of a write that was answered at once. */
const write = (account: string, resource: string, second: number) => {
  const at = `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  return {
    verb: 'update',
    requestURI: `/${resource}`,
    user: { username: `system:serviceaccount:kube-system:${account}` },
    objectRef: { resource },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: at,
    stageTimestamp: at,
  };
};

it('sees a write without the Lease, whose holder may have been named long before', async () => {
  const batches = [
    [write('a', 'leases', 1), write('a', 'globalnetworksets', 2), { ...write('a', 'leases', 3), user: {} }],
    [write('a', 'globalnetworksets', 4), write('b', 'globalnetworksets', 5), write('b', 'leases', 6)],
    [write('b', 'globalnetworksets', 7), write('a', 'globalnetworksets', 8)],
  ];
  const c1 = { followAuditLog: () => async () => batches.shift() ?? [] };
  const untimely = untimelyWritesIn({ clusters: { c1 }, accounts: ['a', 'b'], subject: policy } as unknown as World);
  const found = [await untimely(), await untimely(), await untimely(), await untimely()];
  expect(found.map((all) => all.map((each) => each.slice(0, each.indexOf(' at '))))).toEqual([
    [],
    ['b wrote without the Lease: update /globalnetworksets'],
    ['a wrote without the Lease: update /globalnetworksets'],
    [],
  ]);
});

it.each([
  { name: 'of the subject', secret: 'first' },
  { name: 'that was made since', secret: 'second' },
])('finds a secret $name wherever it is', async ({ secret }) => {
  const found = (text: { readonly ended?: string; readonly log?: string; readonly object?: string }) => {
    const stage = {
      programs: [{ stderr: () => text.log ?? '' }],
      takeLogs: () => [text.ended ?? ''],
      world: { subject: { secrets: ['first'] }, site: { secrets: async () => ['second'] } },
    };
    return secretsIn(stage as unknown as Stage, { c1: { [text.object ?? '']: [] } });
  };
  expect(await found({})).toEqual([]);
  expect(await found({ object: secret })).toEqual(['a secret is in an object']);
  expect(await found({ log: secret })).toEqual(['a secret is in the log of replica 0']);
  expect(await found({ ended: `x ${secret} y` })).toEqual(['a secret is in the log of a replica that ended']);
});
