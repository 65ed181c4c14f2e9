import type { Parsed } from '@kube-semaphore/net';

/** How the text of an option becomes a value, and a value becomes text again for help and the reference page. */
export type OptionType<T> = {
  /** What stands in angle brackets in help: `duration`, `host:port`, `debug|info`. */
  readonly label: string;
  /** The value, or a reason that quotes the text. */
  readonly parse: (raw: string) => Parsed<T>;
  /** What to warn of in a text that `parse` takes, though it means less than it seems to. */
  readonly doubt?: (raw: string) => string | undefined;
  /** The inverse of `parse`, in the spelling that people are shown. */
  readonly format: (value: T) => string;
  /** `-flag` alone means `-flag=true`, and a value comes by `=` only, as for Go's booleans. */
  readonly isSwitch?: true;
};

type Row<T> = {
  /** Without hyphens: `target-cluster-name`. Left out where a command line is no place for the value: a token. */
  readonly flag?: string;
  /** The variable that sets the same. */
  readonly env: string;
  /** Older spellings of the variable, best first. They count where `env` is unset, with a warning that names `env`. */
  readonly aliases?: readonly string[];
  /** Older spellings of the flag. They count where `flag` isn't given, with a warning that names it. */
  readonly olderFlags?: readonly string[];
  /** The value never appears in help, in an error or in a log. */
  readonly secret?: true;
  /** Heading that help lists it under; groups appear in the order of their first row. */
  readonly group: string;
  readonly type: OptionType<Exclude<T, undefined>>;
  /** One sentence for help and the reference page, without the default and without the variable. */
  readonly help: string;
  /** What holds while an option without `fallback` isn't given, for help and the reference page: `in-cluster`. */
  readonly absent?: string;
};

type Presence<T> = undefined extends T
  ? { readonly fallback?: undefined; readonly required?: undefined }
  : | { readonly fallback: T; readonly required?: undefined }
    | { readonly fallback?: undefined; readonly required: true };

/**
 * Everything about one option. A config key that can't be `undefined` needs a `fallback` or `required`, and one that
 * can has neither: the compiler checks it.
 */
type OptionSpec<T> = Row<T> & Presence<T>;

/** One row per key of the config `C`; a missing row is a compile error. The order of rows is that of help. */
export type OptionTable<C> = { readonly [K in keyof C]-?: OptionSpec<C[K]> };

/** A row whose value type no longer matters. */
export type AnySpec = Row<unknown> & { readonly fallback?: unknown; readonly required?: true | undefined };

/** The rows of a table with their keys, in order. */
export function rowsOf<C>(table: OptionTable<C>): [key: keyof C, spec: AnySpec][] {
  // A row's `format` takes only its own values, and is only ever handed those: what its `parse` or `fallback` gave.
  return Object.entries(table) as [keyof C, AnySpec][];
}

/** The variable of a flag: `SP`, `log-level` -> `SP_LOG_LEVEL`. */
export function variableOf(prefix: string, flag: string): string {
  return `${prefix}_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** An option as messages call it: `-log-level or SP_LOG_LEVEL`, or the variable alone where there is no flag. */
export function spellingOf(spec: Pick<AnySpec, 'flag' | 'env'>): string {
  return spec.flag === undefined ? spec.env : `-${spec.flag} or ${spec.env}`;
}

/** What help and the reference page give as the default of an option: `1h`, `required`, `in-cluster`, or nothing. */
export function defaultOf(spec: AnySpec): string {
  if (spec.required) return 'required';
  if (spec.fallback === undefined || spec.secret) return spec.absent ?? '';
  return spec.type.format(spec.fallback);
}
