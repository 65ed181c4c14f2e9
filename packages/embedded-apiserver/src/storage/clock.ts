import { EventEmitter } from 'node:events';

/** The cluster's revision counter: each write of any object takes the next number as its resourceVersion. */
export class Clock {
  #revision = 1;
  readonly #ticks = new EventEmitter().setMaxListeners(0);

  get revision(): number {
    return this.#revision;
  }

  tick(): void {
    this.#revision += 1;
    this.#ticks.emit('tick');
  }

  /** Resolves to whether `revision` is reached within `timeoutMs`. */
  async reaches(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#revision >= revision) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs).unref();
    const check = () => {
      if (this.#revision >= revision) resolve();
    };
    this.#ticks.on('tick', check);
    await promise;
    this.#ticks.off('tick', check);
    clearTimeout(timer);
    return this.#revision >= revision;
  }
}
