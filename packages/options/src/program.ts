/** What a program says of itself in help and for `-version`. */
export type Program = {
  readonly name: string;
  readonly version: string;
  /** The commit it was built from, where that is known. */
  readonly commit?: string | undefined;
  /** One sentence. */
  readonly description: string;
  /** Words that may come first on the command line, before the flags. */
  readonly subcommands?: readonly { readonly name: string; readonly description: string }[];
  /** Subcommands of our other programs, with the program that has each. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** What older releases had, and nothing of ours means the same. */
  readonly retired?: readonly Retired[];
};

/** Flags, without hyphens, and variables that count for nothing any more, and a sentence on what to do instead. */
export type Retired = { readonly names: readonly string[]; readonly says: string };
