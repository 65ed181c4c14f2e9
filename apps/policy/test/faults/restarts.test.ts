import { eventually } from '@kube-semaphore/testkit';
import { describe } from 'vitest';
import { allRestartsOf, isUp } from '../support/remote-state.ts';
import { it, sides } from '../support/under-faults.ts';

const [remote, local] = sides;

describe('an API server that restarts while pods come and go', () => {
  it.for([
    { name: 'the remote one', restarted: [remote] },
    { name: 'the local one', restarted: [local] },
    { name: 'both at once', restarted: [remote, local] },
  ])('costs nothing but time: $name, twice', async ({ restarted }, { clusters, pods, sets, begin }) => {
    const trial = await begin();
    const { policy } = trial;
    // A kube-apiserver that is killed may end its watches in peace, or say 429 when it is back.
    const noticed = () => Promise.all(restarted.map(({ cluster }) => allRestartsOf(policy, cluster)));
    const up = () => Promise.all(restarted.map(({ cluster }) => isUp(policy, cluster)));
    for (let count = 1; count <= 2; count += 1) {
      // Both sides are being watched: between two watches nobody notices a restart.
      await sets.patch('c2-default-cart', { spec: { nets: ['10.4.0.3/32', '192.0.2.1/32'] } });
      await trial.changePods();
      await trial.settled();
      const before = await noticed();
      // A server that starts again remembers nothing from before: the last version that the policy saw is too old now.
      await pods.add({ name: `nobodys-${count}` });
      await trial.changePodsDuring(Promise.all(restarted.map(({ side }) => clusters[side].restart())));
      await sets.served();
      await trial.settled();
      await eventually(async () => (await noticed()).every((times, index) => times > before[index]!), true);
      await eventually(up, restarted.map(() => 1), { timeoutMs: 45_000 });
    }
    await trial.survived();
  });
});
