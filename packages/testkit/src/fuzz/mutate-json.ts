import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateBytes, type Mutator } from './mutate.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A value, and its place. */
type Place = { readonly owner: Json[] | { [key: string]: Json }; readonly key: string };

/** Replacements for values and for texts. */
const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1,
  65_536,
  2 ** 31,
  2 ** 53,
  1e308,
  0.5,
  '',
  'a',
  '-',
  '.',
  'A.b',
  '\u0000',
  '\u202e\n',
  '\ud800',
  '__proto__',
  'true',
  '10.0.0.0/8',
  '10.0.0.1',
  '127.0.0.1',
  '::1',
  'fd00::/8',
  '0.0.0.0/0',
  '1h',
  '[::]:0',
  'IPv6',
  'a=b,c in (d)',
  'None',
  {},
  [],
  [[]],
  [{}],
  { a: {} },
  { toString: 1 },
  65_535,
];

const MARK = '\u0001amplified\u0001';

/** Replaces, removes, moves and repeats values of a JSON document. Seven of eight results are still JSON. */
export const mutateJson: Mutator = (seed, dice, bytes) => {
  const root: [Json] = [JSON.parse(seed.toString()) as Json];
  for (let turns = dice.integer(0, 3); turns > 0; turns--) change(dice.pick(placesIn(root)), placesIn(root), dice);
  const text = amplified(root, dice, bytes);
  // Bytes are changed last, so that the document is the same in any size.
  return dice.integer(0, 7) === 0 ? mutateBytes(Buffer.from(text), dice, 0) : Buffer.from(text);
};

function placesIn(value: Json): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const owner = value;
  return Object.entries(owner).flatMap(([key, inner]) => [{ owner, key }, ...placesIn(inner)]);
}

const at = ({ owner, key }: Place): Json => (owner as { [key: string]: Json })[key] ?? null;

function put({ owner, key }: Place, value: Json): void {
  Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
}

function change(place: Place, places: readonly Place[], dice: Dice): void {
  const found = at(place);
  const other = dice.pick(places);
  const value = dice.pick(VALUES);
  switch (dice.integer(0, 4)) {
    case 0:
      // An array then has null there; the document itself stays.
      if (Array.isArray(place.owner)) return put(place, null);
      return void delete place.owner[place.key];
    case 1:
      return put(place, structuredClone(at(other)));
    case 2:
      return put(
        {
          owner: place.owner,
          key: Array.isArray(place.owner) ? place.key : dice.pick(['__proto__', 'constructor', 'a', other.key]),
        },
        structuredClone(value),
      );
    case 3:
      if (typeof found === 'string')
        return put(
          place,
          dice.pick([found.toUpperCase(), `${found}${JSON.stringify(value)}`, found.slice(1), found.repeat(2)]),
        );
      if (typeof found === 'number') return put(place, dice.pick([-found, found + 1, found * 1_000]));
  }
  put(place, structuredClone(value));
}

/** The text with one value repeated, lengthened or nested until it has `bytes` bytes. */
function amplified(root: [Json], dice: Dice, bytes: number): string {
  const places = placesIn(root);
  const inLists = places.filter(({ owner }) => owner !== root && Array.isArray(owner));
  // Most of what grows is a list.
  const place = dice.pick(inLists.length > 0 && dice.integer(0, 1) === 0 ? inLists : places);
  const value = dice.pick([at(place), at(place), dice.pick(VALUES)]);
  const how = dice.pick(['often', 'often', 'often', 'differing', 'differing', 'long', 'deep'] as const);
  const text = JSON.stringify(value);
  const differing = dice.pick([...(text.match(/"[^"\\]+"/g) ?? ['no text'])]);
  if (bytes > 0) put(place, MARK);
  const key = Array.isArray(place.owner) ? undefined : place.key;
  const many = bytes === 0 ? '' : repeated({ text, differing, bytes, how, key });
  return JSON.stringify(root)
    .slice(1, -1)
    .replace(JSON.stringify(MARK), () => many);
}

type Repeated = {
  readonly text: string;
  /** A part that differs in each copy. */
  readonly differing: string;
  readonly bytes: number;
  readonly how: 'often' | 'differing' | 'long' | 'deep';
  readonly key: string | undefined;
};

function repeated({ text, differing, bytes, how, key }: Repeated): string {
  const times = (length: number): number => Math.ceil(bytes / length);
  if (how === 'long') return JSON.stringify(text.repeat(times(text.length)));
  if (how === 'deep') return `${'['.repeat(times(2))}${text}${']'.repeat(times(2))}`;
  const copy = (i: number): string =>
    how === 'differing' ? text.replace(differing, `${differing.slice(0, -1)}${i}"`) : text;
  if (key === undefined) return Array.from({ length: times(copy(1_000).length + 1) }, (_, i) => copy(i)).join(',');
  const entry = (i: number): string => `${JSON.stringify(`${key}${i}`)}:${copy(i)}`;
  return [text, ...Array.from({ length: times(entry(1_000).length + 1) }, (_, i) => entry(i))].join(',');
}
