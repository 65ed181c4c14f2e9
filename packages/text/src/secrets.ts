/** Any piece of a secret that is as long as this is stripped; a shorter secret, only as a whole. */
const PIECE = 16;

/** What is shorter can't be told from an ordinary word. */
const MIN_LENGTH = 8;

/** The characters of tokens, in any of their spellings, and of passwords; a secret with others is several of these. */
const WORDS = new RegExp(`[!#$%&*+./0-9=?@A-Z^_a-z|~-]{${MIN_LENGTH},}`, 'g');

/**
 * Our own credentials, so that no text of others repeats them: an error that quotes the request, a page of a proxy, an
 * object that was named after a token. Found as they are, percent-encoded, and in base64; who disguises them otherwise
 * isn't stopped.
 */
export class Secrets {
  readonly #held = new Map<object, { readonly now: readonly string[]; readonly before: readonly string[] }>();
  /** Undefined: to be made of what is held. */
  #index: Index | undefined;

  /** What `owner` uses now; what it used before is remembered until the next call, as an answer may still repeat it. */
  hold(owner: object, secrets: readonly string[]): void {
    const before = this.#held.get(owner)?.now ?? [];
    this.#held.set(owner, { now: secrets.flatMap(spellingsOf), before });
    this.#index = undefined;
  }

  /** `text` with `[redacted]` for each word that holds a secret, or 16 characters of one. */
  strip(text: string): string {
    if (text.length < MIN_LENGTH || this.#held.size === 0) return text;
    const index = (this.#index ??= indexOf([...this.#held.values()].flatMap(({ now, before }) => [...now, ...before])));
    return text.replace(WORDS, (word) => (holdsPiece(word, index) ? '[redacted]' : word));
  }
}

/** A secret as others may write it. */
function spellingsOf(secret: string): readonly string[] {
  const spellings = [secret, encodeURIComponent(secret.toWellFormed())];
  const inBase64 = [base64(secret), base64(` ${secret}`).slice(2), base64(`  ${secret}`).slice(3)];
  if (secret.length >= PIECE) spellings.push(...inBase64);
  return [...new Set(spellings)].flatMap((spelling) => spelling.match(WORDS) ?? []);
}

/** There are three of a text within a longer one, by how many bytes stand before it. */
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Where in `text`, which is all secrets, eight characters are, for those at every eighth position of a secret: any 15
 * in a row hold such a chunk, and most words hold none. What looks like a secret and isn't costs no more than a few
 * comparisons.
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
    // No word has a line break.
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

/** How long a piece a word and the secrets share around a chunk that both have; no more is counted than has to be. */
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
