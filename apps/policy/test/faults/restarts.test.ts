import { describe, expect } from 'vitest';
import { restartsOf } from '../support/remote-state.ts';
import { it } from '../support/under-faults.ts';

const names = { remote: 'c2', local: 'local' } as const;

describe('an API server that restarts while pods come and go', () => {
  it.for([
    { name: 'the remote one', sides: ['remote'] as const },
    { name: 'the local one', sides: ['local'] as const },
    { name: 'both at once', sides: ['remote', 'local'] as const },
  ])('costs nothing but time: $name, twice', async ({ sides }, { clusters, sets, begin }) => {
    const trial = await begin();
    for (let count = 1; count <= 2; count += 1) {
      await trial.changePodsDuring(Promise.all(sides.map((side) => clusters[side].restart())));
      await sets.served();
      await trial.settled();
    }
    await trial.survived();
    for (const side of sides) {
      expect(await restartsOf(trial.policy, 'unreachable', names[side])).toBeGreaterThanOrEqual(2);
      await trial.policy.logged('API server is back', { cluster: names[side] });
    }
  });
});
