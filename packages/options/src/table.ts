import type { Parsed } from '@kube-semaphore/net';

/** How the text of an option becomes a value, and a value becomes text again for help and the reference page. */
export type OptionType<T> = {
  /** What help shows in angle brackets: `duration`, `host:port`, `debug|info`. */
  readonly label: string;
  /** The value, or a reason that quotes the text. */
  readonly parse: (raw: string) => Parsed<T>;
  /** A warning about a text that `parse` accepts, but that means less than it seems to. */
  readonly warning?: (raw: string) => string | undefined;
  /** The inverse of `parse`, in the spelling that people are shown. */
  readonly format: (value: T) => string;
  /** `-flag` alone means `-flag=true`, and a value needs a `=`, as for Go's booleans. */
  readonly isSwitch?: true;
};

type Row<T> = {
  /** Older spellings of the variable, best first. Read if the variable is unset, with a warning that names it. */
  readonly aliases?: readonly string[];
  /** Older spellings of the flag. Read if the flag isn't given, with a warning that names it. */
  readonly olderFlags?: readonly string[];
  /** The value never appears in help, in an error or in a log. */
  readonly secret?: true;
  /** Heading that help lists it under; groups appear in the order of their first row. */
  readonly group: string;
  readonly type: OptionType<Exclude<T, undefined>>;
  /** One sentence for help and the reference page, without the default and the variable. */
  readonly help: string;
  /** What applies while an option without `fallback` isn't given, for help and the reference page: `in-cluster`. */
  readonly absent?: string;
};

type Presence<T> = undefined extends T
  ? { readonly fallback?: undefined; readonly required?: undefined }
  :
      | { readonly fallback: T; readonly required?: undefined }
      | { readonly fallback?: undefined; readonly required: true };

/** Of an option that has no flag, as a command line is no place for its value: a token. */
type VariableOnly = { readonly flag?: undefined; readonly variable: string };

/** Without hyphens: `target-cluster-name`. `variable` only if its name differs from the flag's: `OUTPUT` for `-o`. */
type Names = { readonly flag: string; readonly variable?: string } | VariableOnly;

/**
 * Rows of a table as they are written, with variables that lack the prefix of the app. A config key that can't be
 * `undefined` needs a `fallback` or `required`, and one that can has neither: the compiler checks it.
 */
export type OptionRows<C> = { readonly [K in keyof C]-?: Names & Row<C[K]> & Presence<C[K]> };

/** One row per key of the config `C`; a missing row is a compile error. The order of rows is that of help. */
export type OptionTable<C> = { readonly [K in keyof C]-?: OptionSpec<C[K]> };

/** `env` is the variable that sets the same as the flag. */
type Spelling = { readonly flag?: string; readonly env: string };

type OptionSpec<T> = Spelling & Row<T> & Presence<T>;

/** A row whose value type no longer matters. */
export type AnySpec = Spelling & Row<unknown> & { readonly fallback?: unknown; readonly required?: true | undefined };

/** How the variables of an app begin, and which of its options older releases read under another prefix. */
type Prefixes<C> = {
  readonly prefix: string;
  readonly older?: { readonly prefix: string; readonly keys: readonly (keyof C)[] };
};

/** The table of an app: its rows with the names of their variables. `SP`, `log-level` -> `SP_LOG_LEVEL`. */
export function optionTable<C>({ prefix, older }: Prefixes<C>, rows: OptionRows<C>): OptionTable<C> {
  const named = Object.entries(rows as OptionRows<Record<string, unknown>>).map(([key, { variable, ...row }]) => {
    const name = variable ?? row.flag!.replaceAll('-', '_').toUpperCase();
    const inherited = older?.keys.includes(key as keyof C) ? [`${older.prefix}_${name}`] : [];
    return [key, { ...row, env: `${prefix}_${name}`, aliases: [...(row.aliases ?? []), ...inherited] }];
  });
  return Object.fromEntries(named) as OptionTable<C>;
}

/** The rows of a table with their keys, in order. */
export function rowsOf<C>(table: OptionTable<C>): [key: keyof C, spec: AnySpec][] {
  // A row's `format` is only called with values of its own `parse` or `fallback`.
  return Object.entries(table) as [keyof C, AnySpec][];
}

/** An option as messages call it: `-log-level or SP_LOG_LEVEL`, or only the variable if it has no flag. */
export function spellingOf(spec: Pick<AnySpec, 'flag' | 'env'>): string {
  return spec.flag === undefined ? spec.env : `-${spec.flag} or ${spec.env}`;
}

/** The default of an option in help and on the reference page: `1h`, `required`, `in-cluster`, or nothing. */
export function defaultOf(spec: AnySpec): string {
  if (spec.required) return 'required';
  if (spec.fallback === undefined || spec.secret) return spec.absent ?? '';
  return spec.type.format(spec.fallback);
}
