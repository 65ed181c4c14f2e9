type Pure<Args extends readonly [object, ...unknown[]], R> = (...args: Args) => R;

/**
 * A pure function that keeps its last result for each first argument, for as long as that lives. Given the same arguments
 * again, it returns the same object, so that what is made of it is kept, too: a change of one source of many costs the
 * work for one. Arguments are compared by identity, lists by the identity of their elements; a list as the first argument is
 * known by its first element. Nothing that is given to it or that it returns may change later.
 */
export function memoize<Args extends readonly [object, ...unknown[]], R>(compute: Pure<Args, R>): Pure<Args, R> {
  const last = new WeakMap<object, { readonly args: Args; readonly result: R }>();
  return (...args) => {
    const [first] = args;
    const key: unknown = Array.isArray(first) ? first[0] : first;
    if (typeof key !== 'object' || key === null) return compute(...args);
    const known = last.get(key);
    if (known !== undefined && isSameList(args, known.args, isSame)) return known.result;
    const result = compute(...args);
    last.set(key, { args, result });
    return result;
  };
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && isSameList(a, b, Object.is));

function isSameList(a: readonly unknown[], b: readonly unknown[], is: (a: unknown, b: unknown) => boolean): boolean {
  // A loop, as this runs for each of hundreds of sources.
  for (let i = 0; i < a.length; i++) if (!is(a[i], b[i])) return false;
  return true;
}
