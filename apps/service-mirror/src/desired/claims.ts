/** A source that wants a local name. */
export type Claim = {
  /** The key of the reconcile that would use the name. */
  readonly key: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the source Service, in ms. */
  readonly createdAt: number;
};

/**
 * Who wants which local name. Two sources can spell one (`c2` and `a-b`, `c2-a` and `b`): the oldest has it, whatever
 * the order in which they were seen.
 */
export class Claims {
  readonly #byName = new Map<string, Map<string, Claim>>();

  /** A source wants a name, or does so with another age. @returns the keys that this may concern */
  add(localName: string, claim: Claim): readonly string[] {
    const claims = this.#byName.get(localName) ?? new Map<string, Claim>();
    this.#byName.set(localName, claims.set(sourceOf(claim), claim));
    return this.keys(localName);
  }

  /** A source wants a name no more. @returns the keys that this may concern, its own included */
  remove(localName: string, claim: Omit<Claim, 'createdAt'>): readonly string[] {
    const claims = this.#byName.get(localName);
    claims?.delete(sourceOf(claim));
    if (claims?.size === 0) this.#byName.delete(localName);
    return [...new Set([claim.key, ...this.keys(localName)])];
  }

  /** The keys that want a name, that of the oldest source first. */
  keys(localName: string): readonly string[] {
    const claims = [...(this.#byName.get(localName)?.values() ?? [])].toSorted(byAge);
    return [...new Set(claims.map(({ key }) => key))];
  }
}

const sourceOf = ({ key, cluster, namespace, name }: Omit<Claim, 'createdAt'>): string =>
  `${key} ${cluster}/${namespace}/${name}`;

function byAge(a: Claim, b: Claim): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  const [x, y] = [sourceOf(a), sourceOf(b)];
  return x < y ? -1 : Number(x > y);
}
