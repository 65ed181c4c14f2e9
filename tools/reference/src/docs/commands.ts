/** A call of one of our programs on a page. */
export type Call = {
  /** `semaphore-policy`. */
  readonly program: string;
  /** The first word, unless it is a flag. */
  readonly subcommand: string | undefined;
  /** Names of flags, without hyphens and values. */
  readonly flags: readonly string[];
};

/** Our programs at the start of a command: of a line, or after `npx`, `--`, `|`, `$`; also by their path in an image. */
const CALL = /(?:^|npx|--|[|;&$])[ \t]*\/?(semaphore-(?:policy|service-mirror|wireguard))(?=\s|$)([^\n|;&]*)/gm;
const SCRIPT = /\bnpm run (?:--silent )?([\w:-]+)/g;
/** Folders of the repository at the start of a word. */
const PATH = /(?<![\w./-])(?:apps|deploy|docs|gatekeeper|monitoring|packages|tools)\/[\w./*?-]*/g;
/** A here-document. */
const HEREDOC = /<<'?([A-Z]+)'?[^\n]*\n([\s\S]*?)\n\1$/gm;

/** Joins continued lines. */
const joined = (script: string): string => script.replaceAll(/\\\n\s*/g, ' ');

/** The calls of our programs in commands, in order. */
export function callsIn(script: string): readonly Call[] {
  return Array.from(joined(script).matchAll(CALL), ([, program = '', rest = '']) => {
    const [first, ...others] = rest.split(/\s+/).filter((word) => word !== '');
    const subcommand = first?.startsWith('-') === false ? first : undefined;
    const words = subcommand === undefined && first !== undefined ? [first, ...others] : others;
    return { program, subcommand, flags: words.flatMap(flagOf) };
  });
}

/** The scripts of package.json that a text runs. */
export const scriptsIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(SCRIPT), ([, script = '']) => script);

/** The paths of the repository in commands, without here-documents; they may contain `*` and `?`. */
export const pathsIn = (script: string): readonly string[] =>
  Array.from(script.replaceAll(HEREDOC, '').matchAll(PATH), ([path]) => path);

/** The YAML in here-documents. */
export const yamlIn = (script: string): readonly string[] =>
  Array.from(script.matchAll(HEREDOC)).flatMap(([, word, text = '']) => (word === 'YAML' ? [text] : []));

/** The commands of a `console` block: what follows a `$`. */
export const typedIn = (text: string): string =>
  Array.from(text.matchAll(/^\$ (.*)$/gm), ([, command = '']) => command).join('\n');

function flagOf(word: string): readonly string[] {
  const [, name] = /^--?([a-z][a-z-]*)(?:=|$)/.exec(word) ?? [];
  return name === undefined ? [] : [name];
}
