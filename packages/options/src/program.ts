/** What a program says about itself in help and for `-version`. */
export type Program = {
  readonly name: string;
  readonly version: string;
  /** The commit it was built from, if known. */
  readonly commit?: string | undefined;
  /** One sentence. */
  readonly description: string;
  /** Words that may come first on the command line, before the flags. */
  readonly subcommands?: readonly Subcommand[];
  /** Subcommands of our other programs, with the program that has each. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Subcommands of the last release, and the command line that does it now. @param words those before all flags */
  readonly moved?: Readonly<Record<string, (words: readonly string[]) => string>>;
  /** Options of older releases that have no equivalent. */
  readonly retired?: readonly Retired[];
};

export type Subcommand = {
  readonly name: string;
  readonly description: string;
};

/** Flags, without hyphens, and variables that have no effect any more, and a sentence on what to do instead. */
export type Retired = { readonly names: readonly string[]; readonly says: string };

/** The message for a retired flag or variable; undefined if `name` isn't retired. */
export function retirementOf(retired: readonly Retired[], name: string): string | undefined {
  const says = retired.find(({ names }) => names.includes(name))?.says;
  return says && `is not supported any more: ${says}`;
}
