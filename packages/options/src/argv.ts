import { nearest } from './nearest.ts';
import type { Retired } from './program.ts';

/** What a command line may hold: the flags by name without hyphens, and the words that may come first. */
type Grammar = {
  readonly flags: ReadonlyMap<string, { readonly isSwitch: boolean }>;
  readonly subcommands: readonly string[];
  /** Subcommands of other programs, which people type by mistake, with the program that has each. */
  readonly elsewhere?: Readonly<Record<string, string>> | undefined;
  readonly retired?: readonly Retired[] | undefined;
};

/** What a command line said. `values` holds texts by flag, verbatim; the last of a repeated flag wins. */
export type CommandLine = {
  readonly subcommand: string | undefined;
  readonly values: ReadonlyMap<string, string>;
  /** Help or the version was asked for, whatever else is wrong with the line. */
  readonly wants: 'help' | 'version' | undefined;
  readonly problems: readonly string[];
};

/** The questions that every program answers, unless it has a flag of that name. */
const QUESTIONS: ReadonlyMap<string, 'help' | 'version'> = new Map([
  ['h', 'help'],
  ['help', 'help'],
  ['version', 'version'],
]);

/**
 * Reads a command line as Go's flag package does: `-flag value` and `-flag=value` with one hyphen or two, `-flag` and
 * `-flag=false` for switches, values verbatim even if they begin with a hyphen. It goes on after a problem to find
 * the others; whatever is no flag is one.
 */
export function readArgv(
  argv: readonly string[],
  { flags, subcommands, elsewhere = {}, retired = [] }: Grammar,
): CommandLine {
  const values = new Map<string, string>();
  const problems: string[] = [];
  let wants: CommandLine['wants'];
  const [first] = argv;
  const subcommand = first !== undefined && subcommands.includes(first) ? first : undefined;
  const words = argv.slice(subcommand === undefined ? 0 : 1);

  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    // `--` ends the flags; what follows are plain words, which no program of ours takes.
    if (word === '--') problems.push(...words.splice(0).map((rest) => strayWord(rest)));
    else if (!/^--?[^-=]/.test(word)) problems.push(strayWord(word));
    else readFlag(word);
  }
  return { subcommand, values, wants, problems };

  function readFlag(word: string): void {
    const { name, value } = splitFlag(word);
    const flag = flags.get(name);
    if (flag === undefined) readUnknown(name, value);
    else if (value !== undefined) values.set(name, value);
    else if (flag.isSwitch) readSwitch(name);
    else if (words.length > 0) values.set(name, words.shift() ?? '');
    else problems.push(`-${name} needs a value`);
  }

  function readSwitch(name: string): void {
    values.set(name, 'true');
    if (/^(true|false)$/i.test(words[0] ?? '')) problems.push(`write -${name}=${words.shift()}, with a "="`);
  }

  function readUnknown(name: string, value: string | undefined): void {
    wants ??= QUESTIONS.get(name);
    if (QUESTIONS.has(name)) return;
    const meant = nearest(name, flags.keys());
    const gone = retired.find(({ names }) => names.includes(name));
    if (gone !== undefined) problems.push(`-${name} counts for nothing any more: ${gone.says}`);
    else problems.push(`unknown flag -${excerpt(name)}${meant === undefined ? '' : `, did you mean -${meant}?`}`);
    // Most flags take a value, so what follows is one; it may be a secret, and isn't repeated.
    if (value === undefined && words[0]?.startsWith('-') === false) words.shift();
  }

  function strayWord(word: string): string {
    const meant = nearest(word, subcommands);
    const told = `unexpected word "${excerpt(word)}"`;
    if (meant === word) return `${told}: ${word} comes before all flags`;
    if (Object.hasOwn(elsewhere, word)) return `${told}: it is a command of ${elsewhere[word]}`;
    return meant === undefined ? told : `${told}, did you mean ${meant}?`;
  }
}

/** `--name=value`, `-name=value` or `-name`, cut at the first `=`. */
function splitFlag(word: string): { name: string; value: string | undefined } {
  const start = word.startsWith('--') ? 2 : 1;
  const equals = word.indexOf('=');
  if (equals < 0) return { name: word.slice(start), value: undefined };
  return { name: word.slice(start, equals), value: word.slice(equals + 1) };
}

/** Enough of a word to recognise it. */
function excerpt(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
