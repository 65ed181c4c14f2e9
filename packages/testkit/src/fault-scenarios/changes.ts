import { setTimeout as delay } from 'node:timers/promises';
import { TIMEOUT_MS } from '@kube-semaphore/eventually';
import { Dice } from '@kube-semaphore/fault-proxy';

export type RandomChangesOptions = {
  readonly seed: number;
  /** Makes one random change. Rejects if it can't be made now. */
  readonly makeOne: (dice: Dice) => Promise<void>;
};

/** What comes, changes and goes in a source, at random but by a seed. */
export class RandomChanges {
  readonly #dice: Dice;
  readonly #makeOne: RandomChangesOptions['makeOne'];

  constructor({ seed, makeOne }: RandomChangesOptions) {
    this.#dice = new Dice(seed);
    this.#makeOne = makeOne;
  }

  /**
   * Makes changes one after the other, at least `least` of them, until `isOver`. One that fails is left: its API server
   * may be what is restarted.
   *
   * @throws {Error} when none can be made for the timeout of a wait
   */
  async make({ least, isOver }: { readonly least: number; readonly isOver: () => boolean }): Promise<void> {
    let made = 0;
    let lastMadeAt = performance.now();
    while (made < least || !isOver()) {
      try {
        await this.#makeOne(this.#dice);
        made += 1;
        lastMadeAt = performance.now();
      } catch (cause) {
        if (performance.now() - lastMadeAt > TIMEOUT_MS) throw new Error('nothing can be changed', { cause });
      }
      await delay(this.#dice.integer(0, 40));
    }
  }
}
