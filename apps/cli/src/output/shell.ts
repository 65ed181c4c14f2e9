/** A command to copy. Names of another cluster may be anything, so they are quoted. */
export const shell = (...words: readonly string[]): string => words.map(shellWord).join(' ');

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
