import { expect, it } from 'vitest';
import { appPod } from '../../test/support/reports.ts';
import type { AppStatus } from '../clusters/app-status.ts';
import { inventoryIn } from './inventory.ts';

const profile = { profile: 'fleet/c2', controlPlaneHealthy: 'True', problem: null, heldUntil: null };

/** Two agents of c1 that say the same. */
const reportsOf = (inventory?: AppStatus['inventory']) => {
  const pod = appPod({ app: 'semaphore-wireguard', inventory });
  return [{ cluster: 'c1', pods: [pod, pod] }];
};

it('says nothing without an inventory, or of one that is complete', () => {
  expect(inventoryIn(reportsOf())).toBeUndefined();
  expect(inventoryIn(reportsOf({ problem: null, profiles: [profile] }))).toEqual([]);
});

it('says once what is skipped, held, not healthy or unknown', () => {
  const profiles = [
    { ...profile, problem: 'name c2 is used twice' },
    { ...profile, profile: 'fleet/c3', heldUntil: '2026-01-02T03:04:05.000Z' },
    { ...profile, profile: 'fleet/c4', problem: 'no server', heldUntil: '2026-01-02T03:04:05.000Z' },
    { ...profile, profile: 'fleet/c5', controlPlaneHealthy: 'False' },
  ];
  expect(inventoryIn(reportsOf({ problem: 'forbidden', profiles }))).toEqual([
    'c1 (wireguard): the inventory: forbidden',
    'c1 (wireguard): ClusterProfile fleet/c2 is skipped: name c2 is used twice',
    'c1 (wireguard): ClusterProfile fleet/c3 is gone; its remote is held until 2026-01-02T03:04:05.000Z',
    "c1 (wireguard): ClusterProfile fleet/c4 can't be used (no server); its remote is held until 2026-01-02T03:04:05.000Z",
    'c1 (wireguard): ClusterProfile fleet/c5 says that its control plane is not healthy',
  ]);
});
