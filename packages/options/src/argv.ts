import { nearest } from './nearest.ts';
import { retirementOf, type Retired, type Subcommand } from './program.ts';

/** What a command line may have: flags by name without hyphens, and words that may come first. */
type Grammar = {
  readonly flags: ReadonlyMap<string, { readonly isSwitch: boolean }>;
  readonly subcommands: readonly Subcommand[];
  /** Subcommands of other programs, which people type by mistake, with the program that has each. */
  readonly elsewhere?: Readonly<Record<string, string>> | undefined;
  readonly retired?: readonly Retired[] | undefined;
};

/** What a command line says. `values` has texts by flag, verbatim; the last of a repeated flag wins. */
export type CommandLine = {
  readonly subcommand: string | undefined;
  readonly values: ReadonlyMap<string, string>;
  /** The line asks for help or the version, whatever else is wrong with it. */
  readonly wants: 'help' | 'version' | undefined;
  readonly problems: readonly string[];
};

/** Flags that every program has, unless it has its own of that name. */
const HELP_FLAGS: ReadonlyMap<string, 'help' | 'version'> = new Map([
  ['h', 'help'],
  ['help', 'help'],
  ['version', 'version'],
]);

/**
 * Reads a command line as Go's flag package does: `-flag value` and `-flag=value` with one hyphen or two, `-flag` and
 * `-flag=false` for switches, values verbatim even if they begin with a hyphen. It goes on after a problem to find
 * the others; any other word is one.
 */
export function readArgv(
  argv: readonly string[],
  { flags, subcommands, elsewhere = {}, retired = [] }: Grammar,
): CommandLine {
  const values = new Map<string, string>();
  const problems: string[] = [];
  let wants: CommandLine['wants'];
  const [first] = argv;
  const subcommand = subcommands.find(({ name }) => name === first);
  const words = argv.slice(subcommand === undefined ? 0 : 1);

  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    // `--` ends the flags; plain words follow.
    if (word === '--') problems.push(...words.splice(0).map(unexpectedWord));
    else if (!/^--?[^-=]/.test(word)) problems.push(unexpectedWord(word));
    else readFlag(word);
  }
  return { subcommand: subcommand?.name, values, wants, problems };

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
    wants ??= HELP_FLAGS.get(name);
    if (HELP_FLAGS.has(name)) return;
    const meant = nearest(name, flags.keys());
    const retirement = retirementOf(retired, name);
    if (retirement !== undefined) problems.push(`-${name} ${retirement}`);
    else problems.push(`unknown flag -${excerpt(name)}${meant === undefined ? '' : `, did you mean -${meant}?`}`);
    // Most flags take a value, so what follows probably is one; it may be a secret, and isn't repeated.
    if (value === undefined && words[0]?.startsWith('-') === false) words.shift();
  }

  function unexpectedWord(word: string): string {
    const meant = nearest(
      word,
      subcommands.map(({ name }) => name),
    );
    const problem = `unexpected word "${excerpt(word)}"`;
    if (meant === word) return `${problem}: ${word} must come before all flags`;
    if (Object.hasOwn(elsewhere, word)) return `${problem}: it is a command of ${elsewhere[word]}`;
    return meant === undefined ? problem : `${problem}, did you mean ${meant}?`;
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
