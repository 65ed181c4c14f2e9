import { defaultOf, type AnySpec } from './table.ts';

/** Options as a markdown table, in their order. Ends in a line break. */
export function optionsReference(specs: readonly AnySpec[]): string {
  const head = ['| Flag | Variable | Default | Meaning |', '|---|---|---|---|'];
  const lines = specs.map((spec) => [flagOf(spec), variablesOf(spec), otherwise(spec), cell(spec.help)]);
  return [...head, ...lines.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n');
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
