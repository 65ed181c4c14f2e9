/** Every piece of a secret with this length is stripped; a shorter secret is only stripped as a whole. */
const PIECE = 16;

/** Shorter secrets can't be distinguished from ordinary words. */
const MIN_LENGTH = 8;

/** More than the connections of any config. */
const MOST_FORMER = 512;

/** The characters of passwords, and of tokens in any spelling. Other characters divide a secret into several words. */
const WORDS = new RegExp(`[!#$%&*+./0-9=?@A-Z^_a-z|~-]{${MIN_LENGTH},}`, 'g');

/** Spellings of what an owner uses, and used before. */
type Held = { now: readonly string[]; before: readonly string[] };

/**
 * Our own credentials, to strip them from foreign text: an error that quotes the request, a page of a proxy, an object
 * with a token as its name. They are found as they are, percent-encoded, and in base64, but not in other encodings.
 */
export class Secrets {
  readonly #byOwner = new WeakMap<object, Held>();
  readonly #held = new Set<Held>();
  /** Of owners that are gone, oldest first: what they caused may still be told. */
  #former: readonly Held[] = [];
  readonly #gone = new FinalizationRegistry<Held>((held) => {
    this.#held.delete(held);
    this.#former = [...this.#former, held].slice(-MOST_FORMER);
    this.#index = undefined;
  });
  /** Made from what is held when it is needed. */
  #index: Index | undefined;

  /** Holds what `owner` uses now, and what it used before, until the next call: an answer may still repeat that. Not the owner. */
  hold(owner: object, secrets: readonly string[]): void {
    const now = secrets.flatMap(spellingsOf);
    const known = this.#byOwner.get(owner);
    if (known === undefined) {
      const held = { now, before: [] };
      this.#byOwner.set(owner, held);
      this.#held.add(held);
      this.#gone.register(owner, held);
    } else Object.assign(known, { now, before: known.now });
    this.#index = undefined;
  }

  /** `text` with `[redacted]` in place of each word with a secret, or with 16 characters of one. */
  strip(text: string): string {
    if (text.length < MIN_LENGTH || this.#held.size + this.#former.length === 0) return text;
    const all = (): readonly string[] =>
      [...this.#former, ...this.#held].flatMap(({ now, before }) => [...now, ...before]);
    const index = (this.#index ??= indexOf(all()));
    return text.replace(WORDS, (word) => (holdsPiece(word, index) ? '[redacted]' : word));
  }
}

/** The spellings of a secret in foreign text. */
function spellingsOf(secret: string): readonly string[] {
  const spellings = [secret, encodeURIComponent(secret.toWellFormed())];
  const inBase64 = [base64(secret), base64(` ${secret}`).slice(2), base64(`  ${secret}`).slice(3)];
  if (secret.length >= PIECE) spellings.push(...inBase64);
  return [...new Set(spellings)].flatMap((spelling) => spelling.match(WORDS) ?? []);
}

/** A text within a longer one has three forms, by how many bytes precede it. */
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * The places in `text`, which is all secrets, of each chunk of eight characters at every eighth position of a secret. Any
 * 15 characters in a row have such a chunk, and most words have none, so a word costs only a few lookups.
 */
type Index = {
  readonly text: string;
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly short: readonly string[];
};

function indexOf(all: readonly string[]): Index {
  const [short, long] = [
    all.filter(({ length }) => length < PIECE),
    new Set(all.filter(({ length }) => length >= PIECE)),
  ];
  const places = new Map<string, number[]>();
  let text = '';
  for (const secret of long) {
    for (let at = 0; at + MIN_LENGTH <= secret.length; at += MIN_LENGTH) {
      const chunk = secret.slice(at, at + MIN_LENGTH);
      const known = places.get(chunk);
      if (known === undefined) places.set(chunk, [text.length + at]);
      else known.push(text.length + at);
    }
    // Words have no line breaks, so none matches across two secrets.
    text += `${secret}\n`;
  }
  return { text, places, short };
}

function holdsPiece(word: string, { text, places, short }: Index): boolean {
  if (short.some((secret) => word.includes(secret))) return true;
  for (let at = 0; at + MIN_LENGTH <= word.length; at++) {
    const found = places.get(word.slice(at, at + MIN_LENGTH));
    if (found?.some((place) => commonLength({ word, at }, { text, place }) >= PIECE) === true) return true;
  }
  return false;
}

/** The length of the piece that a word and the secrets share around a common chunk, counted up to `PIECE` or a bit more. */
function commonLength(
  { word, at }: { word: string; at: number },
  { text, place }: { text: string; place: number },
): number {
  let before = 0;
  while (before < MIN_LENGTH && at > before && word[at - before - 1] === text[place - before - 1]) before++;
  let length = MIN_LENGTH;
  while (length < PIECE && at + length < word.length && word[at + length] === text[place + length]) length++;
  return before + length;
}
