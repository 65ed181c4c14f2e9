import { eventually } from '@kube-semaphore/eventually';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import { changesIn, type Inventory, inventoryOf } from '../../src/inventory.ts';
import { findingsIn } from '../../src/mesh-report.ts';
import { semaphore } from '../../src/semaphore.ts';
import type { ClusterName, Side } from '../../src/side.ts';
import { System } from '../../src/system.ts';
import { edited } from '../../src/ways.ts';

const names = ['c1', 'c2', 'c3', 'c4'] as const;

/** Each test continues from the state of the one before it. */
let system: System;
let before: ReadonlyMap<Side, Inventory>;

beforeAll(async () => {
  system = await System.start({ clusters: names, nodes: 1 });
  before = new Map(await Promise.all(system.sides.map(async (side) => [side, await inventoryOf(side)] as const)));
});
afterAll(() => system.stop());
beforeEach(() => onTestFailed(async () => console.error(await system.logs())));

const sidesOf = (...some: readonly ClusterName[]): readonly Side[] => some.map((name) => system.side(name));

const slowly = { timeoutMs: 300_000, intervalMs: 1_000 };

const findings = (): Promise<readonly string[]> => findingsIn(system.sides);

/** What the links have changed. */
const changesOf = async (sides: readonly Side[]): Promise<readonly string[]> =>
  (await Promise.all(sides.map(async (side) => changesIn(before.get(side)!, await inventoryOf(side))))).flat();

const unlink = (sides: readonly Side[], ...flags: readonly string[]): Promise<string> =>
  semaphore(sides, 'unlink', `--output=${system.overlays}`, '--apply', ...flags);

it('links four clusters from nothing by one command', async () => {
  await system.install();
  await eventually(findings, [], slowly);
});

it('lets packets through between all pairs', async () => {
  const { calls } = JSON.parse(await system.semaphore('test', '--output=json')) as {
    readonly calls: readonly object[];
  };
  // Each cluster calls three others, by Pod, Service and name.
  expect(calls).toHaveLength(4 * 3 * 3);
});

it.each([
  {
    what: 'two remotes have the same addresses',
    checks: ['ranges-distinct'],
    ...edited('c1', 'policy', ({ remotes, ...config }) => ({
      ...config,
      remotes: remotes?.map((each) => (each['name'] === 'c3' ? { ...each, allowedPodCIDRs: ['10.4.0.0/16'] } : each)),
    })),
  },
  {
    what: 'a cluster is missing in the config of the other side',
    checks: ['both-ways'],
    ...edited('c3', 'wireguard', ({ remotes, ...config }) => ({
      ...config,
      remotes: remotes?.filter((each) => each['name'] !== 'c4'),
    })),
  },
])('finds what is wrong if $what', async ({ checks, breaks, mends }) => {
  await breaks(system);
  try {
    await eventually(findings, checks, slowly);
  } finally {
    await mends(system);
  }
  await eventually(findings, [], slowly);
});

it('removes the link of two clusters, and no other', async () => {
  await unlink(sidesOf('c1', 'c2'));
  await eventually(findings, [], slowly);
  for (const rest of [sidesOf('c1', 'c3', 'c4'), sidesOf('c2', 'c3', 'c4')]) await semaphore(rest, 'test');
  expect((await changesOf(sidesOf('c1'))).filter((line) => /^\+.*\bc2\b/.test(line))).toEqual([]);
});

it('removes all links of a cluster', async () => {
  await unlink(system.sides, '--leaving=c4');
  await eventually(() => changesOf(sidesOf('c4')), [], slowly);
  await eventually(() => findingsIn(sidesOf('c1', 'c2', 'c3')), [], slowly);
});

it('unlinks the rest to nothing', async () => {
  expect((await changesOf(sidesOf('c1', 'c2', 'c3'))).length).toBeGreaterThan(150);
  await unlink(sidesOf('c1', 'c2', 'c3'));
  await eventually(() => changesOf(system.sides), [], slowly);
});
