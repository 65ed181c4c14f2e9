import { type Cidr, mustParseCidr } from '@kube-semaphore/net';
import type { Candidate } from './conflicts.ts';

/** The length of the shortest prefix of a block, by family; -1: there is no block. */
type Shortest = { readonly 4: number; readonly 6: number };

/**
 * Which candidates could be in conflict with each other: they want the same key or address, or both are in conflict with a third.
 * What `settle` says of these depends on no other candidate. So a change of one Node concerns few others: none, usually.
 */
export class Rivals {
  readonly #candidates = new Map<string, Candidate>();
  /** The names of the Nodes that want something, by what `#wantsOf` calls it. */
  readonly #byWant = new Map<string, string[]>();
  /** How many blocks have a prefix of each length. */
  readonly #lengths = { 4: new Uint32Array(33), 6: new Uint32Array(129) };
  #shortest: Shortest = { 4: -1, 6: -1 };

  /**
   * Takes over changes of candidates.
   *
   * @param changes by the Node's name; undefined: it is no candidate any more
   * @param keys public keys whose candidates are of interest, too
   * @returns these Nodes, and all that could be in conflict with them, before or now; each as it is now
   */
  update(
    changes: ReadonlyMap<string, Candidate | undefined>,
    keys: Iterable<string> = [],
  ): ReadonlyMap<string, Candidate | undefined> {
    const wants = new Set(keys);
    for (const name of changes.keys()) this.#remove(name, wants);
    const added = [...changes.values()].filter((candidate) => candidate !== undefined);
    for (const candidate of added) {
      this.#candidates.set(candidate.node.name, candidate);
      this.#count(candidate, 1);
    }
    for (const candidate of this.#measure() ? this.#candidates.values() : added) this.#add(candidate, wants);
    const found = new Map([...changes.keys()].map((name) => [name, this.#candidates.get(name)]));
    // The set grows while it is read.
    for (const want of wants) {
      for (const name of this.#byWant.get(want) ?? []) {
        if (found.has(name)) continue;
        const candidate = this.#candidates.get(name)!;
        found.set(name, candidate);
        for (const other of this.#wantsOf(candidate)) wants.add(other);
      }
    }
    return found;
  }

  #add(candidate: Candidate, wants: Set<string>): void {
    for (const want of this.#wantsOf(candidate)) {
      wants.add(want);
      const names = this.#byWant.get(want);
      if (names === undefined) this.#byWant.set(want, [candidate.node.name]);
      else names.push(candidate.node.name);
    }
  }

  #remove(name: string, wants: Set<string>): void {
    const candidate = this.#candidates.get(name);
    if (candidate === undefined) return;
    this.#candidates.delete(name);
    this.#count(candidate, -1);
    for (const want of this.#wantsOf(candidate)) {
      wants.add(want);
      const names = this.#byWant.get(want)!;
      if (names.length === 1) this.#byWant.delete(want);
      else names.splice(names.indexOf(name), 1);
    }
  }

  #count({ claims }: Candidate, step: 1 | -1): void {
    for (const { cidr, isBorrowed } of claims) if (!isBorrowed) this.#lengths[cidr.family][cidr.prefixLength]! += step;
  }

  /** Finds the shortest prefixes. @returns whether one of them changed, so that all candidates have to be added again */
  #measure(): boolean {
    const shortestOf = (family: 4 | 6) => this.#lengths[family].findIndex((count) => count > 0);
    const shortest = { 4: shortestOf(4), 6: shortestOf(6) };
    if (shortest[4] === this.#shortest[4] && shortest[6] === this.#shortest[6]) return false;
    this.#shortest = shortest;
    this.#byWant.clear();
    return true;
  }

  /**
   * Names what a candidate wants, so that two that could be in conflict want something of the same name. A block is called by
   * the widest block that could be around it: usually, all blocks of a cluster have the same size, and that is the block itself.
   */
  #wantsOf({ node, claims }: Candidate): ReadonlySet<string> {
    return new Set([
      node.publicKey,
      ...claims.flatMap(({ cidr, isBorrowed }) => (isBorrowed ? cidr.text : [cidr.text, this.#around(cidr)])),
    ]);
  }

  #around({ text, family, prefixLength }: Cidr): string {
    const length = this.#shortest[family];
    return prefixLength === length ? text : mustParseCidr(`${text.slice(0, text.indexOf('/'))}/${length}`).text;
  }
}
