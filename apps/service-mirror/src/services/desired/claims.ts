import { compareText } from '@kube-semaphore/naming';

/** A source that wants a local name. */
export type Claim = {
  /** The key that the name would be for. */
  readonly key: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the source Service, in ms. */
  readonly createdAt: number;
};

/**
 * Which sources want which local name. Two sources can have one name (`c2` and `a-b`, `c2-a` and `b`): the oldest gets
 * it, in whatever order they were seen.
 */
export class Claims {
  readonly #byName = new Map<string, Map<string, Claim>>();
  /** The keys that want a name, until a claim to it changes. */
  readonly #keys = new Map<string, readonly string[]>();

  /** Adds a claim, or changes its age. @returns the keys that want the name */
  add(localName: string, claim: Claim): readonly string[] {
    const claims = this.#byName.get(localName) ?? new Map<string, Claim>();
    this.#byName.set(localName, claims.set(sourceOf(claim), claim));
    this.#keys.delete(localName);
    return this.keys(localName);
  }

  /** Removes a claim. @returns its key, and the keys that still want the name */
  remove(localName: string, claim: Omit<Claim, 'createdAt'>): readonly string[] {
    const claims = this.#byName.get(localName);
    claims?.delete(sourceOf(claim));
    this.#keys.delete(localName);
    if (claims?.size === 0) this.#byName.delete(localName);
    return [...new Set([claim.key, ...this.keys(localName)])];
  }

  /** A cluster left the config: it wants nothing any more. @returns its keys, and those that may get a name of its now */
  forget(cluster: string): readonly string[] {
    return Array.from(this.#byName, ([localName, claims]) =>
      [...claims.values()].filter((claim) => claim.cluster === cluster).map((claim) => ({ localName, claim })),
    ).flatMap((own) => own.flatMap(({ localName, claim }) => this.remove(localName, claim)));
  }

  /** The keys that want a name, the key of the oldest source first. */
  keys(localName: string): readonly string[] {
    const known = this.#keys.get(localName);
    if (known !== undefined) return known;
    const claims = this.#byName.get(localName);
    if (claims === undefined) return [];
    const keys = keysByAge([...claims.values()]);
    this.#keys.set(localName, keys);
    return keys;
  }
}

/** All sources of a global Service have one key: hundreds of them aren't sorted for each that comes. */
function keysByAge(claims: readonly Claim[]): readonly string[] {
  const [first] = claims;
  if (first !== undefined && claims.every(({ key }) => key === first.key)) return [first.key];
  return [...new Set(claims.toSorted(byAge).map(({ key }) => key))];
}

const sourceOf = ({ key, cluster, namespace, name }: Omit<Claim, 'createdAt'>): string =>
  `${key} ${cluster}/${namespace}/${name}`;

const byAge = (a: Claim, b: Claim): number =>
  a.createdAt === b.createdAt ? compareText(sourceOf(a), sourceOf(b)) : a.createdAt - b.createdAt;
