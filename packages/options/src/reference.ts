import { defaultOf, type AnySpec } from './table.ts';

/** Options as a markdown list, in order: flag, variable, default in parentheses, meaning. Ends in a line break. */
export function optionsReference(specs: readonly AnySpec[]): string {
  return specs.map((spec) => `- ${namesOf(spec)}${otherwise(spec)}: ${spec.help}${olderOf(spec)}\n`).join('');
}

function namesOf({ flag, type, env }: AnySpec): string {
  if (flag === undefined) return code(env);
  return `${code(type.isSwitch ? `-${flag}` : `-${flag} <${type.label}>`)}, ${code(env)}`;
}

function otherwise(spec: AnySpec): string {
  const value = defaultOf(spec);
  if (value === '') return '';
  // Outside of code, markdown would take `<name>` for a tag.
  return spec.fallback === undefined && !value.includes('<') ? ` (${value})` : ` (${code(value)})`;
}

function olderOf({ aliases = [] }: AnySpec): string {
  return aliases.length === 0 ? '' : ` Older: ${aliases.map(code).join(', ')}.`;
}

const code = (raw: string): string => `\`${raw}\``;
