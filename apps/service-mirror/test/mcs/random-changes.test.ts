import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { Dice, faultSeed } from '@kube-semaphore/fault-proxy';
import { expect, test } from 'vitest';
import { observedView, readState, wantedView } from './agreement.ts';
import { startSet } from '../support/mcs/cluster-set.ts';
import { RandomChanges } from '../support/mcs/random-changes.ts';

/** How often it becomes quiet at least, and for how many seconds changes go on if that isn't enough. */
const ROUNDS = 2;
const LASTS_S = Number(process.env['MCS_SECONDS'] ?? 0);
const CHANGES_BETWEEN = 16;

const it = test
  /** A seed that is printed, and that FAULT_SEED sets. */
  .extend('seed', () => faultSeed())
  .extend('set', async ({ task }, { onCleanup }) => {
    const set = await startSet({ names: ['c1', 'c2', 'c3'] });
    onCleanup(async () => {
      if (task.result?.state === 'fail') for (const output of set.output()) console.error(output.slice(-20_000));
      await set.stop();
    });
    return set;
  });

const timeout = (LASTS_S + 900) * 1_000;

it('all clusters agree with the rules whenever it is quiet, whatever happened', { timeout }, async ({ seed, set }) => {
  const { members } = set;
  const begun = performance.now();
  const flags = ['-log-level=info'];
  const changes = new RandomChanges(seed, set, flags);
  const dice = new Dice(seed);
  const made: string[] = [];
  const states = () => Promise.all(members.map(({ cluster }) => readState(cluster)));
  const agreed = async () => {
    const what = `agreement after ${made.length} changes with FAULT_SEED=${seed}: ${made.slice(-40).join('; ')}`;
    const wanted = wantedView(await states());
    await eventually(async () => observedView(await states()), wanted, { what });
  };
  const staying = async () =>
    (await states()).flatMap(({ imports, services, slices }) =>
      [...imports.values(), ...services.values(), ...slices]
        .filter(({ metadata: { name, labels } }) =>
          [name, labels?.['multicluster.kubernetes.io/service-name']].includes('staying'),
        )
        .map(({ kind, metadata: { name, resourceVersion } }) => `${kind} ${name} ${resourceVersion}`),
    );
  await members[0]!.export('staying', ['10.4.1.1']);
  for (const member of members) await member.start({ flags });
  await agreed();
  const before = await staying();
  for (let round = 0; round < ROUNDS || performance.now() - begun < LASTS_S * 1_000; round++) {
    for (let i = 0; i < CHANGES_BETWEEN; i++) {
      made.push(await changes.next());
      await delay(dice.pick([0, 0, 10, 100, 500]));
    }
    await changes.calm();
    await agreed();
    // No change concerned them, so nothing was written.
    expect(await staying()).toEqual(before);
  }
  console.info(`agreed after ${made.length} changes`);
});
