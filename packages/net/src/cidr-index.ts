import type { Cidr } from './cidr.ts';
import { type Groups, newGroups, readGroups } from './groups.ts';

/** All blocks that begin with the bits on the path to this branch. */
type Branch<V> = {
  readonly children: [Branch<V> | undefined, Branch<V> | undefined];
  holder: { readonly value: V } | undefined;
};

const newBranch = <V>(): Branch<V> => ({ children: [undefined, undefined], holder: undefined });

// Reused by all walks, which are synchronous.
const groups = newGroups();

/**
 * Blocks that don't overlap, each with a value. Finds one that overlaps another block in at most 128 steps.
 */
export class CidrIndex<V> {
  readonly #ipv4 = newBranch<V>();
  readonly #ipv6 = newBranch<V>();

  /** The value of the first block that has an address in common with this one. */
  overlapping(cidr: Cidr): V | undefined {
    let branch: Branch<V> | undefined = this.#root(cidr);
    readGroups(cidr.text, groups);
    for (let depth = 0; branch !== undefined; depth++) {
      if (branch.holder !== undefined) return branch.holder.value;
      if (depth === cidr.prefixLength) return firstIn(branch)?.value;
      branch = branch.children[bitOf(groups, cidr, depth)];
    }
    return undefined;
  }

  /** Adds a block, which must not overlap any other. */
  add(cidr: Cidr, value: V): void {
    let branch = this.#root(cidr);
    readGroups(cidr.text, groups);
    for (let depth = 0; depth < cidr.prefixLength; depth++)
      branch = branch.children[bitOf(groups, cidr, depth)] ??= newBranch();
    branch.holder = { value };
  }

  #root({ family }: Cidr): Branch<V> {
    return family === 4 ? this.#ipv4 : this.#ipv6;
  }
}

/** An IPv4 address is in the last 32 of the 128 bits. */
function bitOf(from: Groups, { family }: Cidr, depth: number): 0 | 1 {
  const bit = family === 4 ? depth + 96 : depth;
  return ((from[bit >>> 4] ?? 0) >>> (15 - (bit & 15))) & 1 ? 1 : 0;
}

function firstIn<V>({ holder, children: [zero, one] }: Branch<V>): { readonly value: V } | undefined {
  return holder ?? (zero && firstIn(zero)) ?? (one && firstIn(one));
}
