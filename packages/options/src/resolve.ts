import { readArgv, type CommandLine } from './argv.ts';
import type { Program } from './program.ts';
import { rowsOf, spellingOf, type AnySpec, type OptionTable } from './table.ts';
import { unknownVariables } from './unknown-variables.ts';

/** The keys that a flag or a variable sets. For some options, "not set" isn't the same as the default. */
export type Given<C> = ReadonlySet<keyof C>;

export type ResolveInput<C> = {
  readonly program: Program;
  /** The words after the program's name: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Rules across options. Called for every run, so that all problems are reported together: a key whose text was
   * refused is in `given` and not in `config`.
   *
   * @returns problems, each a sentence that names flag and variable
   */
  readonly validate?: (given: Given<C>, config: Partial<C>, subcommand: string | undefined) => readonly string[];
  readonly superseded?: Superseded<C> | undefined;
  /** Options that others override: sentences for the log. */
  readonly overridden?: ((given: Given<C>) => readonly string[]) | undefined;
};

/**
 * While `by` is given, the variables of `keys` are ignored, whatever their values, with a warning. Their flags aren't:
 * `validate` sees both.
 */
export type Superseded<C> = { readonly by: keyof C; readonly keys: readonly (keyof C)[] };

/** What a program must do: run with a frozen config, or write a text that ends in a line break, and exit. */
type Resolution<C> =
  | {
      readonly kind: 'run';
      readonly subcommand: string | undefined;
      readonly config: Readonly<C>;
      readonly given: Given<C>;
      /** Sentences for the log. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'exit'; readonly code: 0 | 2; readonly stdout?: string; readonly stderr?: string };

/**
 * Resolves every option of a table: a flag overrides its variable, which overrides the older spellings of the variable,
 * which override the default. An empty variable is unset, as in many manifests. An empty flag (`-kube-config=`) resets
 * the option to its default, whatever the variable says, as with Go. Doesn't use `process`.
 */
export async function resolveOptions<C extends object>(
  table: OptionTable<C>,
  { program, argv, env, validate, superseded, overridden }: ResolveInput<C>,
): Promise<Resolution<C>> {
  const moved = movedTo(program, argv);
  if (moved !== undefined) return { kind: 'exit', code: 2, stderr: moved };
  const rows = rowsOf(table);
  const flags = new Map(rows.flatMap(([, spec]) => flagsOf(spec)));
  const line = readArgv(argv, {
    flags,
    subcommands: program.subcommands ?? [],
    elsewhere: program.elsewhere,
    retired: program.retired,
  });
  if (line.wants === 'version') return { kind: 'exit', code: 0, stdout: versionOf(program) };
  if (line.wants === 'help') {
    // commander costs 8 MB and 16 ms, and only help needs it.
    const { helpText } = await import('./help.ts');
    return { kind: 'exit', code: 0, stdout: helpText(table, { program, subcommand: line.subcommand }) };
  }

  const { config, given, problems, warnings } = readRows(rows, { line, env, superseded });
  const all = [...line.problems, ...problems, ...(validate?.(given, config, line.subcommand) ?? [])];
  if (all.length > 0) return { kind: 'exit', code: 2, stderr: refusalOf(program, all) };
  // Without problems each key has its value: the type of the rows ensures it.
  return {
    kind: 'run',
    subcommand: line.subcommand,
    config: Object.freeze(config as C),
    given,
    warnings: [...warnings, ...unknownVariables(rows, env, program.retired), ...(overridden?.(given) ?? [])],
  };
}

function flagsOf({ flag, olderFlags = [], type }: AnySpec): [name: string, facts: { isSwitch: boolean }][] {
  return flag === undefined ? [] : [flag, ...olderFlags].map((name) => [name, { isSwitch: type.isSwitch === true }]);
}

type Source = { readonly raw: string; readonly label: string; readonly isVariable: boolean; readonly isOlder: boolean };

function readRows<C>(
  rows: readonly [keyof C, AnySpec][],
  { line, env, superseded }: { line: CommandLine } & Pick<ResolveInput<C>, 'env' | 'superseded'>,
): { config: Partial<C>; given: Set<keyof C>; problems: string[]; warnings: string[] } {
  const config: Partial<Record<keyof C, unknown>> = {};
  const given = new Set<keyof C>();
  const problems: string[] = [];
  const warnings: string[] = [];
  const winner = rows.find(([key, spec]) => key === superseded?.by && sourceOf(spec, { line, env }) !== undefined);
  for (const [key, spec] of rows) {
    let source = sourceOf(spec, { line, env });
    if (winner !== undefined && source?.isVariable && superseded?.keys.includes(key)) {
      warnings.push(`${source.label} is ignored: ${spellingOf(winner[1])} overrides it`);
      source = undefined;
    }
    if (source === undefined) {
      if (spec.required) problems.push(`${spellingOf(spec)} is required`);
      else config[key] = spec.fallback;
      continue;
    }
    given.add(key);
    if (source.isOlder)
      warnings.push(`${source.label} is an older spelling: use ${source.isVariable ? spec.env : `-${spec.flag}`}`);
    const parsed = spec.type.parse(source.raw);
    if (parsed.ok) config[key] = parsed.value;
    else problems.push(`${bothNames(source.label, spec)}: ${spec.secret ? 'the value is not valid' : parsed.reason}`);
    const warning = spec.type.warning?.(source.raw);
    if (warning !== undefined) warnings.push(`${bothNames(source.label, spec)}: ${warning}`);
  }
  return { config: config as Partial<C>, given, problems, warnings };
}

function sourceOf(
  spec: AnySpec,
  { line, env }: { line: CommandLine; env: ResolveInput<unknown>['env'] },
): Source | undefined {
  const flag = flagsOf(spec).find(([name]) => line.values.has(name))?.[0];
  const flagged = flag === undefined ? undefined : line.values.get(flag);
  if (flagged === '') return undefined;
  if (flagged !== undefined) return { raw: flagged, label: `-${flag}`, isVariable: false, isOlder: flag !== spec.flag };
  const label = [spec.env, ...(spec.aliases ?? [])].find((name) => (env[name] ?? '') !== '');
  return label === undefined
    ? undefined
    : { raw: env[label] ?? '', label, isVariable: true, isOlder: label !== spec.env };
}

/** The source of a value, and in parentheses the other way to set it. */
function bothNames(label: string, { flag, env }: AnySpec): string {
  if (flag === undefined) return label;
  return `${label} (${label.startsWith('-') ? env : `-${flag}`})`;
}

/** The line for a subcommand that another program has now, whatever its flags are. */
function movedTo({ name, moved = {} }: Program, [first = '', ...rest]: readonly string[]): string | undefined {
  if (!Object.hasOwn(moved, first)) return undefined;
  const flag = rest.findIndex((word) => word.startsWith('-'));
  const now = moved[first]!(flag < 0 ? rest : rest.slice(0, flag));
  return `${name}: ${first} has moved: use ${now}\n`;
}

function versionOf({ name, version, commit }: Program): string {
  return `${name} ${version}${commit === undefined ? '' : ` (commit ${commit})`}\n`;
}

function refusalOf({ name }: Program, problems: readonly string[]): string {
  return [...problems.map((problem) => `${name}: ${problem}`), `Run "${name} -help" for all flags.`, ''].join('\n');
}
