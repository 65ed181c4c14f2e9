/** Breaks a text into lines of at most `width` characters, between words; a longer word has a line of its own. */
export const wrap = (text: string, width: number): readonly string[] =>
  text.replaceAll(/\s+/g, ' ').match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g')) ?? [];
