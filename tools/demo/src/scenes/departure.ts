import { observe } from '../stage/observe.ts';
import type { Scene } from '../stage/stage.ts';

/** The end of a workload. */
export const departure: readonly Scene[] = [
  {
    title: 'The last pod goes',
    async play({ c1, checkout, ledger, tell, signal }) {
      tell.say(`The last pod of ${checkout.app} is deleted in c2, and with it goes the reason for the set in c1.`);
      const { rightMs } = await observe({ site: c1, workload: checkout, signal }, () => checkout.scale(0));
      tell.milestone(`c1 has no set ${checkout.setName} any more`, rightMs, `; c2 still has ${ledger.setName}`);
    },
  },
];
