import type { Remote, RemoteConfig, Remotes } from './remotes.ts';

export type PerRemoteOptions<S extends RemoteConfig, T> = {
  readonly remotes: Pick<Remotes<S>, 'all'>;
  readonly make: (remote: Remote<S>) => T;
  /** The list of remotes has this one no more; called before another one of its name is made. */
  readonly drop?: (name: string) => void;
  /** What there is besides, at the end. */
  readonly always?: ReadonlyMap<string, T>;
};

/**
 * What a feature has of each remote of the config. It is made for a remote that is new in the list, and dropped with it: so one
 * whose settings change is in force until the next is. One that nothing follows yet knows nothing.
 */
export class PerRemote<S extends RemoteConfig, T> {
  readonly #options: PerRemoteOptions<S, T>;
  #list: readonly Remote<S>[] = [];
  #made: ReadonlyMap<Remote<S>, T> = new Map();
  #byName: ReadonlyMap<string, T> = new Map();
  #all: readonly T[] = [];

  constructor(options: PerRemoteOptions<S, T>) {
    this.#options = options;
    this.#update();
  }

  /** In the order of the config. Another array after a change. */
  get all(): readonly T[] {
    this.#update();
    return this.#all;
  }

  get(name: string): T | undefined {
    this.#update();
    return this.#byName.get(name);
  }

  #update(): void {
    const { remotes, make, drop, always = [] } = this.#options;
    const { all } = remotes;
    if (all === this.#list) return;
    const before = this.#list;
    this.#list = all;
    for (const remote of before) if (!all.includes(remote)) drop?.(remote.settings.name);
    this.#made = new Map(all.map((remote) => [remote, this.#made.get(remote) ?? make(remote)]));
    this.#byName = new Map([
      ...Array.from(this.#made, ([{ settings }, each]) => [settings.name, each] as const),
      ...always,
    ]);
    this.#all = [...this.#byName.values()];
  }
}
