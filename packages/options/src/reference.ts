import { defaultOf, rowsOf, type AnySpec, type OptionTable } from './table.ts';

/**
 * The options of a table as markdown: a heading of the third level and a table per group, in the order of the rows.
 * Ends in a line break.
 */
export function optionsReference<C>(table: OptionTable<C>): string {
  const groups = Map.groupBy(rowsOf(table), ([, spec]) => spec.group);
  return [...groups].map(([group, rows]) => section(group, rows.map(([, spec]) => spec))).join('\n');
}

function section(group: string, specs: readonly AnySpec[]): string {
  const head = ['| Flag | Variable | Default | Meaning |', '|---|---|---|---|'];
  const lines = specs.map((spec) => [flagOf(spec), variablesOf(spec), otherwise(spec), cell(spec.help)]);
  return [`### ${group}`, '', ...head, ...lines.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n');
}

function flagOf({ flag, type }: AnySpec): string {
  if (flag === undefined) return '';
  return code(type.isSwitch ? `-${flag}` : `-${flag} <${type.label}>`);
}

function variablesOf({ env, aliases = [] }: AnySpec): string {
  return aliases.length === 0 ? code(env) : `${code(env)}, older: ${aliases.map(code).join(', ')}`;
}

function otherwise(spec: AnySpec): string {
  const value = defaultOf(spec);
  return spec.fallback === undefined || value === '' ? cell(value) : code(value);
}

const code = (raw: string): string => `\`${cell(raw)}\``;

/** A bar ends a cell, also inside a code span. */
const cell = (raw: string): string => raw.replaceAll('|', '\\|');
