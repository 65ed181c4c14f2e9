import { nearest } from './nearest.ts';
import type { Retired } from './program.ts';
import type { AnySpec } from './table.ts';

/** What kubelet sets in each container for a Service, such as one called `sp`: `SP_SERVICE_HOST`, `SP_PORT_80_TCP_ADDR`. */
const OF_A_SERVICE = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)$/;

/**
 * Variables that begin like those of a table and are in no row of it. They do nothing, and one that was to limit something
 * must not do nothing in silence.
 *
 * @returns sentences for the log, which repeat no value: it may be a secret
 */
export function unknownVariables(
  rows: readonly (readonly [unknown, AnySpec])[],
  env: Readonly<Record<string, string | undefined>>,
  retired: readonly Retired[] = [],
): string[] {
  const known = new Set(rows.flatMap(([, { env: variable, aliases = [] }]) => [variable, ...aliases]));
  const isGone = (name: string): boolean => retired.some(({ names }) => names.includes(name));
  const prefixes = new Set([...known].map(prefixOf));
  const unknown = Object.keys(env).filter(
    (name) =>
      (env[name] ?? '') !== '' &&
      (prefixes.has(prefixOf(name)) || isGone(name)) &&
      !known.has(name) &&
      !OF_A_SERVICE.test(name),
  );
  return unknown.map((name) => {
    const gone = retired.find(({ names }) => names.includes(name));
    if (gone !== undefined) return `${name} counts for nothing any more: ${gone.says}`;
    const meant = nearest(name, known);
    return `unknown variable ${name}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
  });
}

/** `SP_` of `SP_LOG_LEVEL`, with the underscore; empty without one. */
const prefixOf = (variable: string): string => variable.slice(0, variable.indexOf('_') + 1);
