/**
 * Replaces texts in bytes by others of the same length, which keeps every length prefix valid. So one protobuf object
 * becomes another, without its schema.
 */
export class Stamp<K extends string> {
  readonly #bytes: Buffer;
  readonly #places: readonly { readonly key: K; readonly length: number; readonly at: readonly number[] }[];

  /**
   * @param placeholders texts in `template`, each at least once, and always with the same meaning
   * @throws {Error} if one doesn't occur
   */
  constructor(template: Buffer, placeholders: Readonly<Record<K, string>>) {
    this.#bytes = Buffer.from(template);
    this.#places = Object.entries<string>(placeholders).map(([key, text]) => {
      const at = occurrences(template, text);
      if (at.length === 0) throw new Error(`the template contains no ${key} ${text}`);
      return { key: key as K, length: text.length, at };
    });
  }

  /**
   * The template with these texts, all ASCII. The result is overwritten by the next call.
   *
   * @throws {RangeError} if a text isn't as long as what it replaces
   */
  with(texts: Readonly<Record<K, string>>): Buffer {
    for (const { key, length, at } of this.#places) {
      const text = texts[key];
      if (text.length !== length) throw new RangeError(`${key} ${text} must have the length ${length}`);
      for (const position of at) this.#bytes.write(text, position, 'latin1');
    }
    return this.#bytes;
  }
}

function occurrences(bytes: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found.push(at);
  return found;
}
